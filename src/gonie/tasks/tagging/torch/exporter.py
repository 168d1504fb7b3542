"""A trained tagger on its way to a bundle, and held-out sentences to try it on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gonie.export.exporter import BATCH_SENTENCES, BATCH_TOKENS, Judged
from gonie.export.graph import Graph
from gonie.export.proof import MaxDifference, prove
from gonie.export.ranges import Ranges, measure_ranges
from gonie.export.standalone_proof import SAMPLES, prove_whole
from gonie.features.batching import sorted_batches
from gonie.features.corpus import collate
from gonie.features.encoding import Encoding
from gonie.metrics.evaluation import evaluate
from gonie.runtime.scorer import Batch
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.load import load_tag_bundle
from gonie.tasks.tagging.torch.graph import onnx_graph, whole_tagger
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer
from gonie.text.types import Sentence


class TagExporter:
    """``bundle`` is what training left, and ``model`` what it was made from; ``dev`` are tagged sentences."""

    noun = "tags"

    def __init__(self, model: TaggingNetwork, bundle: TagBundle, dev: Sequence[Sentence]) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = dev

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees."""
        return self.bundle.encoding.longest

    def with_graph(self, graph: Graph) -> TagBundle:
        """The bundle with its model written into an empty graph."""
        return replace(self.bundle, **onnx_graph(self.model, graph=graph)._asdict())

    def whole(self) -> bytes:
        """One graph from ids to tags, which are those of the bundle on the samples, or it is refused."""
        bundle, tagger = self.bundle, load_tag_bundle(self.bundle)
        chain = tagger.decoder.chain
        found = whole_tagger(
            self.model,
            (chain.transitions, chain.start, chain.end),
            longest=self.longest,
            facts={"labels": json.dumps(bundle.encoding.labels, ensure_ascii=False)},
        )

        def decoded(batch: Batch) -> NDArray[np.int64]:
            return tagger.decoder.viterbi(tagger.scorer.scores(batch), batch["lengths"])[0]

        prove_whole(found, self._batches(SAMPLES), "tags", decoded)
        return found

    def prove(self, bundle: TagBundle, samples: int) -> MaxDifference:
        """Compare scores with the model's on so many sentences; refuse any difference."""
        return prove(self.model, load_tag_bundle(bundle).scorer, self._batches(samples))

    def ranges(self, samples: int) -> Ranges:
        """How large the numbers of layers that can multiply in bytes are on so many sentences."""
        return measure_ranges(self.model, TorchScorer(self.model).scores, self._batches(samples))

    def judge(self, bundle: TagBundle) -> Judged:
        """What a bundle says of all the sentences, and how good that is."""
        tags = [tagging.tags for tagging in load_tag_bundle(bundle).tag_sentences(self.examples)]
        found = evaluate(self.examples, tags, scheme=bundle.encoding.scheme)
        return Judged([tag for own in tags for tag in own], *found.headline)

    def _batches(self, samples: int) -> Iterator[Batch]:
        return tag_batches(self.bundle.encoding, self.examples[:samples])


def tag_batches(encoding: Encoding, sentences: Sequence[Sentence]) -> Iterator[Batch]:
    """The sentences in batches of like length."""
    corpus = encoding.encode(sentences)
    for rows in sorted_batches(corpus.lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES):
        yield collate(corpus, rows)
