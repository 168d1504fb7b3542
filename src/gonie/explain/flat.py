"""Weights as one number after another, which is how they are made and ranked, and by sentence, as shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.explain.odds import Floats
from gonie.reports.explanation import Method, TokenWeights


def flatten(weights: TokenWeights) -> Floats:
    """The weights of all tokens in their order. Shape: (M,)."""
    return np.array([weight for sentence in weights.words for weight in sentence], dtype=np.float64)


def by_sentence(
    flat: NDArray[np.floating],
    lengths: Sequence[int],
    *,
    method: Method,
    label: str,
    gap: float | None = None,
) -> TokenWeights:
    """Weights (M,) of tokens in their order, laid out over sentences of these lengths."""
    rows = np.split(flat, np.cumsum(lengths)[:-1])
    return TokenWeights(
        method=method,
        label=label,
        words=tuple(tuple(row.tolist()) for row in rows),
        sentences=tuple(float(row.sum()) for row in rows),
        gap=gap,
    )
