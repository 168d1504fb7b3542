"""The interface between the prediction path and the network, which ONNX Runtime or torch runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Batch = Mapping[str, NDArray[Any]]


class Scorer(Protocol):
    """Scores every tag at every token of a batch."""

    @property
    def at_once(self) -> int:
        """The best number of batches to score in parallel."""

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Return the emission scores (B, T, K) of a batch. ``features.batching`` lists its arrays."""


class ScoredTexts(NamedTuple):
    """The output of a classifier for N texts of up to S sentences, B sentences in all of up to T tokens."""

    scores: NDArray[np.float32]
    """(N, K): the score of each label for each text."""
    words: NDArray[np.float32]
    """(B, T): the share of each token in the vector of its sentence, 0 at padding."""
    sentences: NDArray[np.float32]
    """(N, S): the share of each sentence in the vector of its text, 0 at padding."""


class TextScorer(Protocol):
    """Scores every label for every text of a batch."""

    @property
    def at_once(self) -> int:
        """The best number of batches to score in parallel."""

    def score_texts(self, batch: Batch) -> ScoredTexts:
        """Return scores and shares of a batch. ``features.text_corpus`` lists its arrays."""
