"""Whether a classifier is right as often as it says, and the one number that mends it.

A *decision* is what a probability was given for. Where a text has one label it is the label found: how
probable, and was it right? Where it may have several, it is each label of each text: how probable, and does
it hold? Of a calibrated classifier 80% of the decisions given 0.8 are right. The expected calibration error
(Naeini et al. 2015; Guo et al. 2017) sorts decisions into bins by their probability:

    ECE = Σ_b n_b / n · |mean probability of b − share of b that is right|

``gold`` is (N,) label ids, -1 for a label the model does not know, where a text has one; (N, K) of 0 and 1
where it has several. Everything here takes either, as a model's head gives either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats

Gold = npt.NDArray[np.int64]

BINS = 15
FLOOR = 1e-12
"""A gold label given less than this counts as given this much: one certain error is not infinitely bad."""

LOWEST, HIGHEST = 0.05, 20.0
"""A temperature beyond these says that there is too little data to fit one."""

STEPS, FLAT = 50, 1e-7
"""The search halves its range so often; a slope below FLAT (nats a text) is level ground."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The decisions with a probability in (low, high]: how many, their mean, the share that is right."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Decisions by their probability; bins that would be empty are left out."""

    bins: tuple[Bin, ...]

    @property
    def error(self) -> float:
        """The expected calibration error."""
        total = sum(each.count for each in self.bins)
        return sum(each.count * abs(each.confidence - each.accuracy) for each in self.bins) / total


@dataclass(frozen=True)
class Calibration:
    """Reliability in bins of equal width and of equal size, and two scores that have no bins.

    ``nll`` is the mean negative log-likelihood of the gold labels (of the texts whose label the model knows;
    None if there is none), ``brier`` the mean squared distance to the gold labels: summed over the labels of
    a text (0 to 2) where it has one, the mean over them (0 to 1) where it has several.
    """

    width: Reliability
    mass: Reliability
    nll: float | None
    brier: float

    def to_json(self) -> dict[str, object]:
        """Fractions; the bins are those of equal width."""
        return {
            "ece": self.width.error,
            "ece_equal_mass": self.mass.error,
            "nll": self.nll,
            "brier": self.brier,
            "bins": [asdict(each) for each in self.width.bins],
        }


def measure_calibration(probabilities: Floats, gold: Gold, *, bins: int = BINS) -> Calibration:
    """Measure probabilities (N, K) against gold labels."""
    confidences, right = decisions(probabilities, gold)
    return Calibration(
        width=reliability(confidences, right, equal_width(bins)),
        mass=reliability(confidences, right, equal_mass(confidences, bins)),
        nll=negative_log_likelihood(probabilities, gold),
        brier=brier(probabilities, gold),
    )


def decisions(probabilities: Floats, gold: Gold) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The probability of each decision (M,) and whether it is right (M,)."""
    if gold.ndim == 2:
        return probabilities.ravel(), gold.ravel() > 0
    return probabilities.max(axis=1), probabilities.argmax(axis=1) == gold


def equal_width(bins: int) -> Floats:
    """The upper ends of bins of the same width, the last one 1."""
    return np.arange(1, bins + 1) / bins


def equal_mass(confidences: Floats, bins: int) -> Floats:
    """The upper ends of bins with as many decisions each as can be, the last one 1.

    Equal probabilities are never parted, so the order of the texts does not matter; there may be fewer bins.
    """
    ordered = np.sort(confidences)
    last = np.arange(1, bins) * len(ordered) // bins - 1  # the last decision of each bin but the last bin
    return np.unique(np.append(ordered[last[last >= 0]], 1.0))


def reliability(confidences: Floats, right: npt.NDArray[np.bool_], ends: Floats) -> Reliability:
    """Sort decisions into bins with these upper ends, each end in the bin below it."""
    place = np.minimum(np.searchsorted(ends, confidences, side="left"), len(ends) - 1)  # (M,)
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
        )
    )


def negative_log_likelihood(probabilities: Floats, gold: Gold) -> float | None:
    """The mean of -ln p(gold): over texts where each has one label, else over every label of every text."""
    if gold.ndim == 2:
        chances = np.where(gold > 0, probabilities, 1 - probabilities).ravel()
    else:
        known = np.flatnonzero(gold >= 0)
        chances = probabilities[known, gold[known]]
    return float(-np.log(np.maximum(chances, FLOOR)).mean()) if len(chances) else None


def brier(probabilities: Floats, gold: Gold) -> float:
    """The mean squared distance to the gold labels (Brier 1950); an unknown label has a place of its own."""
    if gold.ndim == 2:
        return float(np.square(probabilities - gold).mean())
    known = np.flatnonzero(gold >= 0)
    missing = probabilities.copy()
    missing[known, gold[known]] -= 1  # (N, K)
    return float((np.square(missing).sum(axis=1) + (gold < 0)).mean())


# --- temperature -----------------------------------------------------------------------------------------


def fit_temperature(scores: Floats, gold: Gold, *, doubt: float = 0.0) -> float:
    """The T for which softmax(scores / T), of several labels sigmoid(scores / T), fits gold best (Guo 2017).

    The negative log-likelihood is convex in 1/T, so its slope changes sign once, and halving finds where. T
    is 1 where the scores say nothing (or there are none), and within LOWEST..HIGHEST where they say too much:
    were every text right, the best T would be 0. ``doubt`` is the share of certainty that gold is not given,
    which keeps T sober where texts are few (Platt 1999 has 1 / (N + 2)).
    """
    slope = _sigmoid_slope(scores, gold, doubt) if gold.ndim == 2 else _softmax_slope(scores, gold, doubt)
    at_one = slope(1.0)
    if abs(at_one) <= FLAT:
        return 1.0
    sign = np.sign(at_one)  # negative: the fit is better at a higher 1/T
    near, far = 0.0, float(np.log(HIGHEST if sign > 0 else LOWEST))  # ln T
    if slope(float(np.exp(-far))) * sign > FLAT:
        return LOWEST if sign < 0 else HIGHEST
    for _ in range(STEPS):
        middle = (near + far) / 2
        if slope(float(np.exp(-middle))) * sign > FLAT:
            near = middle
        else:
            far = middle
    return float(np.exp((near + far) / 2))


Slope = Callable[[float], float]
"""The derivative of the mean negative log-likelihood by 1/T, at a 1/T."""


def _softmax_slope(scores: Floats, gold: Gold, doubt: float) -> Slope:
    known = np.flatnonzero(gold >= 0)
    below = scores[known].astype(np.float64)
    below -= below.max(axis=1, keepdims=True)  # (M, K), at most 0: no exponential can overflow
    due = (1 - doubt) * below[np.arange(len(known)), gold[known]] + doubt * below.mean(axis=1)  # (M,)

    def slope(inverse: float) -> float:
        weights = np.exp(inverse * below)  # (M, K)
        expected = (weights * below).sum(axis=1) / weights.sum(axis=1)  # (M,)
        return float((expected - due).mean()) if len(due) else 0.0

    return slope


def _sigmoid_slope(scores: Floats, gold: Gold, doubt: float) -> Slope:
    exact = scores.astype(np.float64)  # (N, K)
    due = gold + doubt * (0.5 - gold)  # (N, K)

    def slope(inverse: float) -> float:
        chances = (1 + np.tanh(inverse * exact / 2)) / 2  # (N, K)
        return float(((chances - due) * exact).sum(axis=1).mean()) if len(exact) else 0.0

    return slope
