"""The area under the ROC curve: how well a two-label classifier ranks texts at any threshold.

The area is the probability that a positive text scores above a negative one. A tie counts half (Mann &
Whitney 1947; Hanley & McNeil 1982):

    AUC = Σ_p Σ_n ([s_p > s_n] + ½ [s_p = s_n]) / (P · N)

The AUC is not a function of summed counts, so this module draws its own resamples. They are the same
resamples that the other scores use.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats, draws, percentiles, widened
from gonie.metrics.intervals import Interval, divide


class Ranking:
    """Texts sorted by score, so that the AUC takes one pass for any weights."""

    def __init__(self, *, scores: Floats, positive: npt.NDArray[np.bool_]) -> None:
        self._order = np.argsort(scores, kind="stable")  # (N,)
        ordered = scores[self._order]
        self._positive = positive[self._order]  # (N,)
        self._starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))  # (G,) where each tied group begins

    @property
    def area(self) -> float | None:
        """The AUC, or None if one class has no texts."""
        (area,) = self._areas(np.ones((1, len(self._order))))
        return None if np.isnan(area) else float(area)

    def interval(self, *, resamples: int, seed: int, level: float = 0.95) -> Interval:
        """Return the interval over resampled texts, skipping resamples with only one class.

        A ranking without errors is as certain as its rarer class has texts.
        """
        pieces = [self._areas(w) for w in draws(len(self._order), resamples=resamples, seed=seed)]
        rarer = np.bincount(self._positive, minlength=2).min(keepdims=True)  # (1,)
        low, high = widened(percentiles(np.concatenate(pieces)[:, None], level=level), rarer, level=level)[0]
        return float(low), float(high)

    def _areas(self, weights: Floats) -> Floats:
        """Return the AUC (R,) for each row of weights (R, N), nan where it is undefined."""
        ordered = weights[:, self._order]  # (R, N)
        positives = np.add.reduceat(ordered * self._positive, self._starts, axis=1)  # (R, G)
        negatives = np.add.reduceat(ordered * ~self._positive, self._starts, axis=1)  # (R, G)
        below = np.cumsum(negatives, axis=1) - negatives  # (R, G)
        won = (positives * (below + negatives / 2)).sum(axis=1)  # (R,)
        return divide(won, positives.sum(axis=1) * negatives.sum(axis=1))
