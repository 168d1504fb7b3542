"""Log-odds of a prediction, log p / (1 - p): the scale on which explanations are computed.

Explanations do not use the probability p. If the model is confident, p hardly changes whatever is removed
from a text, and every word would seem to have no effect. On the log-odds scale a word counts the same in a
clear text and in an ambiguous one. An increase of 1 multiplies the odds by e. Explanations do not use the raw
score either, because raising the scores of all labels together changes nothing. The score of the first label
of a sigmoid model is always 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def label_log_odds(scores: NDArray[Any], labels: NDArray[np.int64], *, multi_label: bool) -> Floats:
    """Return log p / (1 - p) of one label per text, from scores already divided by the temperature.

    p is the softmax of the label, so its log-odds are its score minus the log-sum-exp of the others. For
    multi-label texts (``multi_label``), p is the sigmoid, and its log-odds are the score itself.

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


def to_probabilities(odds: Floats) -> Floats:
    """Return the probability of each log-odds value, without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)))
