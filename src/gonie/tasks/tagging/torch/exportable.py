"""Export of a trained tagger, with tagged sentences to test it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.export.exportable import BATCH_SENTENCES, BATCH_TOKENS, Arrays, ScoredAnswers, Standalone
from gonie.export.graph import Graph
from gonie.features.batching import sorted_batches
from gonie.features.corpus import collate
from gonie.features.encoding import Encoding
from gonie.metrics.evaluation import evaluate
from gonie.runtime.bundle import Graphs
from gonie.runtime.scorer import Batch, Scorer
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.load import load_tag_bundle
from gonie.tasks.tagging.torch.graph import onnx_graph, standalone_tagger
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer
from gonie.text.types import Sentence


class TagExportable:
    """A trained tagger, the contents of its ``bundle``, and held-out sentences as ``examples``."""

    discontinuous = ()

    def __init__(self, model: TaggingNetwork, bundle: TagBundle, examples: Sequence[Sentence]) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = examples

    @property
    def longest(self) -> int:
        """The number of bytes per word that a language model reads."""
        return self.bundle.encoding.longest

    def write(self, graph: Graph) -> Graphs:
        """Write the network into an empty graph."""
        return onnx_graph(self.model, graph=graph)

    def batches(self, samples: int) -> Iterator[Batch]:
        """Yield the first ``samples`` sentences, in batches of similar length."""
        return tag_batches(self.bundle.encoding, self.examples[:samples])

    def trained(self, batch: Batch) -> Arrays:
        """Return the scores of the network for the real tokens."""
        return _at_tokens(TorchScorer(self.model), batch)

    def shipped(self, bundle: TagBundle) -> Callable[[Batch], Arrays]:
        """Return a function that computes the scores of a bundle for the real tokens."""
        scorer = load_tag_bundle(bundle).scorer
        return lambda batch: _at_tokens(scorer, batch)

    def score_answers(self, bundle: TagBundle) -> ScoredAnswers:
        """Score the predictions of a bundle for all sentences."""
        tags = [tagging.tags for tagging in load_tag_bundle(bundle).tag_sentences(self.examples)]
        found = evaluate(self.examples, tags, scheme=bundle.encoding.scheme)
        return ScoredAnswers([tag for own in tags for tag in own], *found.headline)

    def standalone(self, bundle: TagBundle) -> Standalone:
        """Return one graph from ids to the tags of ``bundle``."""
        tagger = load_tag_bundle(bundle)
        chain = tagger.decoder.chain
        graph = standalone_tagger(
            self.model,
            (chain.transitions, chain.start, chain.end),
            longest=self.longest,
            facts={"labels": json.dumps(bundle.encoding.labels, ensure_ascii=False)},
        )

        def decoded(batch: Batch) -> NDArray[np.int64]:
            return tagger.decoder.viterbi(tagger.scorer.scores(batch), batch["lengths"])[0]

        return Standalone(graph, "tags", decoded)


def tag_batches(encoding: Encoding, sentences: Sequence[Sentence]) -> Iterator[Batch]:
    """Yield the sentences in batches of similar length."""
    corpus = encoding.encode(sentences)
    for rows in sorted_batches(corpus.lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES):
        yield collate(corpus, rows)


def _at_tokens(scorer: Scorer, batch: Batch) -> Arrays:
    return {"scores": scorer.scores(batch)[batch["mask"]]}
