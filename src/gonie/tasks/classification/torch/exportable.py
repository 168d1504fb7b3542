"""A trained classifier on its way to a bundle, with labelled texts to try it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.export.exportable import BATCH_SENTENCES, BATCH_TOKENS, Arrays, Judged, Standalone
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
    """``bundle`` is what the classifier's bundle is to hold, ``examples`` are held-out texts."""

    def __init__(
        self, model: ClassifyingNetwork, bundle: TextBundle, examples: Sequence[LabelledText]
    ) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = examples

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees."""
        return self.bundle.encoding.words.longest

    @property
    def jumping(self) -> Collection[str]:
        """The shares, if any of them are those of a maximum."""
        return SHARES if any(isinstance(part, Max) for part in self.model.modules()) else ()

    def write(self, graph: Graph) -> Graphs:
        """The network written into an empty graph."""
        return text_graph(self.model, graph=graph)

    def batches(self, samples: int) -> Iterator[Batch]:
        """So many of the texts, in batches of like length."""
        return text_batches(self.bundle.encoding.encode(self.examples[:samples]))

    def trained(self, batch: Batch) -> Arrays:
        """The network's scores, and the shares of the real tokens and sentences."""
        return text_arrays(TorchTextScorer(self.model), batch)

    def shipped(self, bundle: TextBundle) -> Callable[[Batch], Arrays]:
        """A bundle's scores and shares."""
        scorer = load_text_bundle(bundle).scorer
        return lambda batch: text_arrays(scorer, batch)

    def judge(self, bundle: TextBundle) -> Judged:
        """What a bundle says of all the texts, and how good that is."""
        own = load_text_bundle(bundle)
        answers = list(own.pipe(self.examples))
        found = score_texts(
            self.examples, lambda texts: iter(answers), labels=own.labels, multi_label=own.multi_label
        )
        return Judged([answer.labels for answer in answers], *found.headline)

    def standalone(self, bundle: TextBundle) -> Standalone:
        """One graph from ids to the calibrated probabilities that ``bundle`` gives."""
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
    """The texts in batches of like length."""
    lengths, heights = corpus.lengths, corpus.heights
    for rows in sorted_batches(lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES, heights=heights):
        yield corpus.batch(rows)


def text_arrays(scorer: TextScorer, batch: Batch) -> Arrays:
    """The scores of a batch, and the shares of its real tokens and sentences."""
    found = scorer.score_texts(batch)
    shares = found.words[batch["mask"]], found.sentences[batch["places_mask"]]
    return {"scores": found.scores, **dict(zip(SHARES, shares, strict=True))}
