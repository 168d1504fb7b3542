"""How strongly a model is for an answer, on the scale on which explanations add up.

The log-odds log p / (1 - p), and not the probability p: where a model is sure, p hardly moves whatever is
taken from a text, and the words of a clear text would all seem to do nothing. On log-odds a word counts the
same in a clear text and in a doubtful one; 1 more is e times the odds. And not the score of the answer
alone: a model may raise the scores of all answers together, which changes nothing, and that of the first
label of a sigmoid model is always 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST = 1e-12
"""Probabilities nearer to 0 or 1 are taken for this far from them, so that their log-odds are finite."""


def label_log_odds(scores: NDArray[Any], labels: NDArray[np.int64], *, multi_label: bool) -> Floats:
    """log p / (1 - p) of a label for each text, from scores that are already divided by the temperature.

    p is the label's softmax, so that its log-odds are its score less the log-sum-exp of all others; or, where
    a text may have ``multi_label`` labels, its sigmoid, whose log-odds are the score itself.

    Shape: scores (N, K), labels (N,) -> (N,).
    """
    rows = np.arange(len(scores))
    values = scores.astype(np.float64)
    own = values[rows, labels]
    if multi_label:
        return np.asarray(own)
    values[rows, labels] = -np.inf
    top = values.max(axis=1, keepdims=True)  # (N, 1)
    return np.asarray(own - top[:, 0] - np.log(np.exp(values - top).sum(axis=1)))


def from_probabilities(probabilities: Floats) -> Floats:
    """log p / (1 - p) of any probabilities."""
    inside = np.clip(probabilities, LEAST, 1.0 - LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def to_probabilities(odds: Floats) -> Floats:
    """p of log-odds, however large."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)))
