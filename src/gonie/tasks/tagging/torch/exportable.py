"""A trained tagger on its way to a bundle, with tagged sentences to try it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.export.exportable import BATCH_SENTENCES, BATCH_TOKENS, Arrays, Judged, Standalone
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
    """``bundle`` is what the tagger's bundle is to hold, ``examples`` are held-out sentences."""

    jumping = ()

    def __init__(self, model: TaggingNetwork, bundle: TagBundle, examples: Sequence[Sentence]) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = examples

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees."""
        return self.bundle.encoding.longest

    def write(self, graph: Graph) -> Graphs:
        """The network written into an empty graph."""
        return onnx_graph(self.model, graph=graph)

    def batches(self, samples: int) -> Iterator[Batch]:
        """So many of the sentences, in batches of like length."""
        return tag_batches(self.bundle.encoding, self.examples[:samples])

    def trained(self, batch: Batch) -> Arrays:
        """The network's scores of the real tokens."""
        return _at_tokens(TorchScorer(self.model), batch)

    def shipped(self, bundle: TagBundle) -> Callable[[Batch], Arrays]:
        """A bundle's scores of the real tokens."""
        scorer = load_tag_bundle(bundle).scorer
        return lambda batch: _at_tokens(scorer, batch)

    def judge(self, bundle: TagBundle) -> Judged:
        """What a bundle says of all the sentences, and how good that is."""
        tags = [tagging.tags for tagging in load_tag_bundle(bundle).tag_sentences(self.examples)]
        found = evaluate(self.examples, tags, scheme=bundle.encoding.scheme)
        return Judged([tag for own in tags for tag in own], *found.headline)

    def standalone(self, bundle: TagBundle) -> Standalone:
        """One graph from ids to the tags that ``bundle`` gives."""
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
    """The sentences in batches of like length."""
    corpus = encoding.encode(sentences)
    for rows in sorted_batches(corpus.lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES):
        yield collate(corpus, rows)


def _at_tokens(scorer: Scorer, batch: Batch) -> Arrays:
    return {"scores": scorer.scores(batch)[batch["mask"]]}
