"""The output of a network for encoded texts, before it becomes labels: scores and attention weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import BundleError
from gonie.features.batching import sorted_batches
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.runtime.scorer import Batch, ScoredTexts, TextScorer
from gonie.system.thread_map import thread_map
from gonie.tasks.bundled import BundledModel, listed
from gonie.text.passages import Passage


class Reading(NamedTuple):
    """The scores of a text, and its attention weights."""

    scores: NDArray[np.float32]
    """(K,), one score per label, before the temperature; for a sigmoid model, (0, z)."""
    words: tuple[NDArray[np.float32], ...]
    """For each sentence (tokens,): the weight of each token in the sentence's vector, with sum 1."""
    sentences: NDArray[np.float32]
    """(S,): the weight of each sentence in the text's vector, with sum 1; [1.0] for a one-level model."""


class TextBatchSize(NamedTuple):
    """The maximum tokens, including padding, the maximum texts, and the maximum padding of a batch."""

    tokens: int
    texts: int
    padding: int | None = None


ONNX_TEXT_BATCH = TextBatchSize(8192, 128, 64)


class TextReader(BundledModel):
    """Scores encoded texts in batches, and turns scores into calibrated probabilities.

    A reader keeps no state between calls, so threads may share it. ``batch_size`` limits what is scored
    together. Results do not depend on it.
    """

    def __init__(
        self,
        *,
        encoding: TextEncoding,
        scorer: TextScorer,
        temperature: float = 1.0,
        batch_size: TextBatchSize = ONNX_TEXT_BATCH,
    ) -> None:
        self.encoding = encoding
        self.scorer = scorer
        self.temperature = temperature
        self._batch_size = batch_size

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the model, in the order of its scores."""
        return self.encoding.labels

    @property
    def vector_width(self) -> int:
        """The width of the external vector that every text must have; 0: it reads none."""
        return self.encoding.words.external

    def predicts(self) -> str:
        """Say what the model predicts: its labels."""
        return listed(self.labels, "label")

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        return self.encoding.multi_label

    def read(self, passages: Sequence[Passage]) -> list[Reading]:
        """Return the scores and attention weights of tokenised texts. Each depends on its text only."""
        return self.read_encoded(self.encoding.encode_passages(passages))

    def read_encoded(self, corpus: TextCorpus) -> list[Reading]:
        """Return the scores and attention weights of encoded texts."""
        tokens, texts, padding = self._batch_size
        batches = sorted_batches(
            corpus.lengths, tokens=tokens, sentences=texts, padding=padding, heights=corpus.heights
        )

        def read(rows: NDArray[np.int64]) -> list[Reading]:
            return list(self._readings(corpus.batch(rows)))

        readings: dict[int, Reading] = {}
        for rows, found in zip(batches, thread_map(read, batches, threads=self.scorer.at_once), strict=True):
            readings.update(zip(rows.tolist(), found, strict=True))
        return [readings[row] for row in range(len(corpus))]

    def probabilities(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return softmax(scores / T), or sigmoid(scores / T) for several labels. Shape: (N, K)."""
        scaled = np.asarray(scores, dtype=np.float64) / self.temperature
        if self.multi_label:
            return np.asarray((1 + np.tanh(scaled / 2)) / 2)
        weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _readings(self, batch: Batch) -> Iterator[Reading]:
        scored = self.scorer.score_texts(batch)
        if scored.scores.shape[1] != len(self.labels):
            raise BundleError(
                f"expected scores of {len(self.labels)} labels from the graph, got "
                f"{scored.scores.shape[1]}. Export the model again."
            )
        heights = batch["places_mask"].sum(axis=1)  # (N,)
        for row, height in enumerate(heights):
            yield _reading(scored, row, batch["places"][row, :height], batch["lengths"])


def _reading(scored: ScoredTexts, row: int, own: NDArray[np.int64], lengths: NDArray[np.int64]) -> Reading:
    """Return text ``row`` of a batch, with sentences ``own``. Arrays are copied to release the batch."""
    return Reading(
        scores=scored.scores[row].copy(),
        words=tuple(scored.words[sentence, : lengths[sentence]].copy() for sentence in own),
        sentences=scored.sentences[row, : len(own)].copy(),
    )
