"""A trained classifier on its way to a bundle, and held-out texts to try it on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gonie.export.exporter import BATCH_SENTENCES, BATCH_TOKENS, Judged
from gonie.export.graph import Graph
from gonie.export.proof import MaxDifference, prove_texts
from gonie.export.ranges import Ranges, measure_ranges
from gonie.export.standalone_proof import SAMPLES, prove_whole
from gonie.features.batching import sorted_batches
from gonie.features.text_encoding import TextEncoding
from gonie.runtime.scorer import Batch
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.load import load_text_bundle
from gonie.tasks.classification.scoring import score_texts
from gonie.tasks.classification.torch.graph import text_graph, whole_classifier
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledText


class TextExporter:
    """``bundle`` is what training left, and ``model`` what it was made from; ``dev`` are labelled texts."""

    noun = "labels"

    def __init__(self, model: ClassifyingNetwork, bundle: TextBundle, dev: Sequence[LabelledText]) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = dev

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees."""
        return self.bundle.encoding.words.longest

    def with_graph(self, graph: Graph) -> TextBundle:
        """The bundle with its model written into an empty graph."""
        return replace(self.bundle, **text_graph(self.model, graph=graph)._asdict())

    def whole(self) -> bytes:
        """One graph from ids to probabilities, which are those of the bundle on the samples, or refused."""
        own, encoding = load_text_bundle(self.bundle), self.bundle.encoding
        found = whole_classifier(
            self.model,
            temperature=self.bundle.temperature,
            several=encoding.several,
            longest=self.longest,
            facts={"labels": json.dumps(encoding.labels, ensure_ascii=False)},
        )

        def chances(batch: Batch) -> NDArray[np.float64]:
            return own.probabilities(own.scorer.score_texts(batch).scores)

        prove_whole(found, self._batches(SAMPLES), "probabilities", chances)
        return found

    def prove(self, bundle: TextBundle, samples: int) -> MaxDifference:
        """Compare scores and shares with the model's on so many texts; refuse any difference."""
        return prove_texts(self.model, load_text_bundle(bundle).scorer, self._batches(samples))

    def ranges(self, samples: int) -> Ranges:
        """How large the numbers of layers that can multiply in bytes are on so many texts."""
        return measure_ranges(self.model, TorchTextScorer(self.model).score_texts, self._batches(samples))

    def judge(self, bundle: TextBundle) -> Judged:
        """What a bundle says of all the texts, and how good that is."""
        own = load_text_bundle(bundle)
        answers = list(own.pipe(self.examples))
        found = score_texts(
            self.examples, lambda texts: iter(answers), labels=own.labels, several=own.several
        )
        return Judged([answer.labels for answer in answers], *found.headline)

    def _batches(self, samples: int) -> Iterator[Batch]:
        return text_batches(self.bundle.encoding, self.examples[:samples])


def text_batches(encoding: TextEncoding, texts: Sequence[LabelledText]) -> Iterator[Batch]:
    """The texts in batches of like length."""
    corpus = encoding.encode(texts)
    lengths, heights = corpus.lengths, corpus.heights
    for rows in sorted_batches(lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES, heights=heights):
        yield corpus.batch(rows)
