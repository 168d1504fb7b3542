"""Export of a trained classifier, with labelled texts to test it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.export.exportable import BATCH_SENTENCES, BATCH_TOKENS, Arrays, ScoredAnswers, Standalone
from gonie.export.graph import Graph
from gonie.features.batching import sorted_batches
from gonie.features.text_corpus import TextCorpus
from gonie.nn.poolings import Max
from gonie.runtime.bundle import Graphs
from gonie.runtime.scorer import Batch, TextScorer
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.load import load_text_bundle
from gonie.tasks.classification.scoring import score_texts
from gonie.tasks.classification.torch.graph import standalone_classifier, text_graph
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledText

SHARES = ("words", "sentences")


class TextExportable:
    """A trained classifier, the contents of its ``bundle``, and held-out texts as ``examples``."""

    def __init__(
        self, model: ClassifyingNetwork, bundle: TextBundle, examples: Sequence[LabelledText]
    ) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = examples

    @property
    def longest(self) -> int:
        """The number of bytes per word that a language model reads."""
        return self.bundle.encoding.words.longest

    @property
    def discontinuous(self) -> Collection[str]:
        """The weights of tokens and sentences, if the network has max pooling."""
        return SHARES if any(isinstance(part, Max) for part in self.model.modules()) else ()

    def write(self, graph: Graph) -> Graphs:
        """Write the network into an empty graph."""
        return text_graph(self.model, graph=graph)

    def batches(self, samples: int) -> Iterator[Batch]:
        """Yield the first ``samples`` texts, in batches of similar length."""
        return text_batches(self.bundle.encoding.encode(self.examples[:samples]))

    def trained(self, batch: Batch) -> Arrays:
        """Return the scores of the network, and the weights of the real tokens and sentences."""
        return text_arrays(TorchTextScorer(self.model), batch)

    def shipped(self, bundle: TextBundle) -> Callable[[Batch], Arrays]:
        """Return a function that computes the scores and weights of a bundle."""
        scorer = load_text_bundle(bundle).scorer
        return lambda batch: text_arrays(scorer, batch)

    def score_answers(self, bundle: TextBundle) -> ScoredAnswers:
        """Score the predictions of a bundle for all texts."""
        own = load_text_bundle(bundle)
        answers = list(own.pipe(self.examples))
        found = score_texts(
            self.examples, lambda texts: iter(answers), labels=own.labels, multi_label=own.multi_label
        )
        return ScoredAnswers([answer.labels for answer in answers], *found.headline)

    def standalone(self, bundle: TextBundle) -> Standalone:
        """Return one graph from ids to the calibrated probabilities of ``bundle``."""
        own, encoding = load_text_bundle(bundle), bundle.encoding
        graph = standalone_classifier(
            self.model,
            temperature=bundle.temperature,
            multi_label=encoding.multi_label,
            longest=self.longest,
            facts={"labels": json.dumps(encoding.labels, ensure_ascii=False)},
        )

        def chances(batch: Batch) -> NDArray[np.float64]:
            return own.probabilities(own.scorer.score_texts(batch).scores)

        return Standalone(graph, "probabilities", chances)


def text_batches(corpus: TextCorpus) -> Iterator[Batch]:
    """Yield the texts in batches of similar length."""
    lengths, heights = corpus.lengths, corpus.heights
    for rows in sorted_batches(lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES, heights=heights):
        yield corpus.batch(rows)


def text_arrays(scorer: TextScorer, batch: Batch) -> Arrays:
    """The scores of a batch, and the shares of its real tokens and sentences."""
    found = scorer.score_texts(batch)
    shares = found.words[batch["mask"]], found.sentences[batch["places_mask"]]
    return {"scores": found.scores, **dict(zip(SHARES, shares, strict=True))}
