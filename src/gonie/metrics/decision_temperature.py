"""Fits a temperature to decisions whose probabilities have no closed form in it, such as spans of a chain.

The loss is the Brier score of the decisions, each right or wrong: the mean squared distance between
probability and target. Like the likelihood it is lowest for the true probabilities, but it is bounded. A few
wrong decisions with a probability near 1, often errors of the gold tags, would otherwise set the temperature
of all others. The targets are those of Platt (1999) instead of 1 and 0: (R + 1) / (R + 2) for the R right
decisions and 1 / (W + 2) for the W wrong ones. They keep probabilities away from 0 and 1 when there are few
decisions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats

LOWEST, HIGHEST = 0.1, 10.0
"""Bounds of the temperature."""
GRID, STEPS = 33, 20
"""Temperatures of the first search, and steps of the golden-section search around the best of them."""
GOLDEN = (5**0.5 - 1) / 2


def fit_decision_temperature(chances: Callable[[float], Floats], right: npt.NDArray[np.bool_]) -> float:
    """Return the temperature at which ``chances`` (M,) fit best whether the decisions are ``right`` (M,).

    The loss may have several minima, so a grid finds the region of the lowest one. The result is 1 if there
    are no decisions.
    """
    if not len(right):
        return 1.0
    targets = platt_targets(right)  # (M,)

    def loss(log: float) -> float:
        return float(np.square(chances(float(np.exp(log))) - targets).mean())

    grid = np.linspace(np.log(LOWEST), np.log(HIGHEST), GRID)
    best = int(np.argmin([loss(log) for log in grid.tolist()]))
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)])
    return float(np.exp(_golden_section(loss, low, high)))


def platt_targets(right: npt.NDArray[np.bool_]) -> Floats:
    """Return what each decision (M,) should have as its probability, between 0 and 1."""
    correct = int(right.sum())
    wrong = len(right) - correct
    return np.where(right, (correct + 1) / (correct + 2), 1 / (wrong + 2))


def _golden_section(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return the place of a minimum between two bounds (Kiefer 1953)."""
    places = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [loss(place) for place in places]
    for _ in range(STEPS):
        if values[0] <= values[1]:
            high = places[1]
            places, values = [high - GOLDEN * (high - low), places[0]], [0.0, values[0]]
            values[0] = loss(places[0])
        else:
            low = places[0]
            places, values = [places[1], low + GOLDEN * (high - low)], [values[1], 0.0]
            values[1] = loss(places[1])
    return (low + high) / 2
