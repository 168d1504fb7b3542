"""Reliability: decisions binned by probability, with the accuracy and the mean probability of each bin.

A *decision* is an event with a predicted probability that turns out right or wrong. The expected calibration
error (Naeini et al. 2015; Guo et al. 2017) of bins b of n decisions is

    ECE = Σ_b n_b / n · |mean probability of b − share of b that is right|

With few decisions it is above 0 even for a model whose probabilities are exactly right. ``perfect_error`` is
how large it then is on average, so the difference of the two is what the model can be blamed for (Bröcker &
Smith 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats

BINS = 15
DRAWS = 1000
"""The number of perfectly calibrated models that are drawn."""
FEWEST, PASSES, CELLS = 20, 10, 4_000_000
"""Draw at least FEWEST models, and no more than fit in PASSES tables of CELLS cells."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The decisions with a probability in (low, high]: count, mean probability and accuracy."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Decisions binned by probability, without empty bins.

    ``perfect_error`` is the error that a perfectly calibrated model would show on average on as many
    decisions with the same probabilities. It is not 0, because the accuracy of a finite bin varies.
    """

    bins: tuple[Bin, ...]
    perfect_error: float = 0.0

    @property
    def error(self) -> float:
        """The expected calibration error."""
        total = sum(each.count for each in self.bins)
        return sum(each.count * abs(each.confidence - each.accuracy) for each in self.bins) / total


def equal_width(bins: int) -> Floats:
    """Return the upper bounds of bins of equal width. The last one is 1."""
    return np.arange(1, bins + 1) / bins


def equal_mass(confidences: Floats, bins: int) -> Floats:
    """Return the upper bounds of bins with equal numbers of decisions, as far as possible. The last one is 1.

    Equal probabilities are never split, so the order of the texts does not matter. There may be fewer bins.
    """
    ordered = np.sort(confidences)
    last = np.arange(1, bins) * len(ordered) // bins - 1  # the last decision of each bin except the last bin
    return np.unique(np.append(ordered[last[last >= 0]], 1.0))


def reliability(confidences: Floats, right: npt.NDArray[np.bool_], ends: Floats) -> Reliability:
    """Sort decisions into bins with these upper bounds. A bound belongs to the bin below it."""
    place = _places(confidences, ends)  # (M,)
    counts = np.bincount(place, minlength=len(ends))
    given = np.bincount(place, weights=confidences, minlength=len(ends))
    correct = np.bincount(place, weights=right, minlength=len(ends))
    lows = np.concatenate([[0.0], ends[:-1]])
    return Reliability(
        tuple(
            Bin(
                low=float(lows[at]),
                high=float(ends[at]),
                count=int(counts[at]),
                confidence=float(given[at] / counts[at]),
                accuracy=float(correct[at] / counts[at]),
            )
            for at in np.flatnonzero(counts)
        ),
        perfect_error(confidences, ends),
    )


def perfect_error(confidences: Floats, ends: Floats, *, draws: int = DRAWS, seed: int = 0) -> float:
    """Return the mean error of models that are right exactly as often as these probabilities say.

    Each of ``draws`` models is right at every decision with its probability, independently. With very many
    decisions fewer are drawn, because the errors of such models hardly differ.
    """
    if not len(confidences):
        return 0.0
    order = np.argsort(_places(confidences, ends), kind="stable")
    chances = np.clip(confidences[order], 0.0, 1.0)  # (M,), grouped by bin
    starts = np.flatnonzero(np.diff(_places(chances, ends), prepend=-1))  # (bins,)
    given = np.add.reduceat(chances, starts)  # (bins,)
    generator = np.random.default_rng(seed)
    most = max(CELLS // len(chances), 1)  # models in memory at once
    draws = min(draws, max(CELLS * PASSES // len(chances), FEWEST))
    total = 0.0
    for first in range(0, draws, most):
        size = (min(most, draws - first), len(chances))
        right = generator.random(size, dtype=np.float32) < chances  # (models, M)
        correct = np.add.reduceat(right, starts, axis=1, dtype=np.int64)  # (models, bins)
        total += float(np.abs(correct - given).sum())
    return total / draws / len(chances)


def _places(confidences: Floats, ends: Floats) -> npt.NDArray[np.int64]:
    """Return the bin of each decision, (M,)."""
    return np.minimum(np.searchsorted(ends, confidences, side="left"), len(ends) - 1)
