"""The seam between the one prediction path and what runs the network: ONNX Runtime, or torch in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Batch = Mapping[str, NDArray[Any]]


class Scorer(Protocol):
    """Anything that scores every tag at every token of a batch."""

    @property
    def at_once(self) -> int:
        """How many batches it is best given at the same time."""

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Emission scores of a batch (the names and shapes are in ``gonie.features.batching``): (B, T, K)."""


class ScoredTexts(NamedTuple):
    """What a classifier makes of a batch of N texts of at most S sentences, B in all of at most T tokens."""

    scores: NDArray[np.float32]
    """(N, K), one of each label for each text."""
    words: NDArray[np.float32]
    """(B, T): the share of each token in its sentence's vector, 0 at padding."""
    sentences: NDArray[np.float32]
    """(N, S): the share of each sentence in its text's vector, 0 at padding."""


class TextScorer(Protocol):
    """Anything that scores every label for every text of a batch."""

    @property
    def at_once(self) -> int:
        """How many batches it is best given at the same time."""

    def score_texts(self, batch: Batch) -> ScoredTexts:
        """Scores and shares of a batch of texts; ``gonie.features.text_corpus`` has its names and shapes."""
