"""Calibration of classifiers and taggers: measures, and fitting the temperature of a classifier.

A *decision* is an event with a predicted probability. For single-label texts it is the predicted label: its
probability, and whether it is correct. For multi-label texts it is each label of each text: its probability,
and whether the text has it. For a tagger it is a predicted span: its probability, and whether gold has
exactly this span. A model is calibrated if 80% of the decisions with probability 0.8 are correct
(``reliability``).

For single-label texts ``gold`` is (N,) label ids, with -1 for a label the model does not know. For
multi-label texts it is (N, K) of 0 and 1. The functions that take ``gold`` accept both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats
from gonie.metrics.reliability import BINS, Reliability, equal_mass, equal_width, reliability

Gold = npt.NDArray[np.int64]

FLOOR = 1e-12
"""Lower bound for the probability of a gold label, so that one certain error gives a finite loss."""

LOWEST, HIGHEST = 0.05, 20.0
"""Bounds of the temperature. A fit beyond them means that there is too little data."""

STEPS, FLAT = 50, 1e-7
"""Bisection steps, and the slope (nats per text) below which the loss counts as flat."""


@dataclass(frozen=True)
class Calibration:
    """Reliability in bins of equal width and of equal size, and two scores without bins.

    ``nll`` is the mean negative log-likelihood of the gold labels, over the texts whose label the model knows
    (None if there are none). ``brier`` is the mean squared distance to the gold labels. For single-label
    texts it is summed over the labels of a text (0 to 2). For multi-label texts it is averaged over them (0
    to 1). For spans, both are those of the event that the span is right.
    """

    width: Reliability
    mass: Reliability
    nll: float | None
    brier: float

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return sum(each.count for each in self.width.bins)

    def to_json(self) -> dict[str, object]:
        """Return the scores as fractions, with the bins of equal width."""
        return {
            "ece": self.width.error,
            "ece_expected": self.width.perfect_error,
            "ece_equal_mass": self.mass.error,
            "ece_equal_mass_expected": self.mass.perfect_error,
            "nll": self.nll,
            "brier": self.brier,
            "decisions": self.decisions,
            "bins": [asdict(each) for each in self.width.bins],
        }


def measure_calibration(probabilities: Floats, gold: Gold, *, bins: int = BINS) -> Calibration:
    """Measure the calibration of probabilities (N, K) against gold labels."""
    confidences, right = decisions(probabilities, gold)
    return Calibration(
        width=reliability(confidences, right, equal_width(bins)),
        mass=reliability(confidences, right, equal_mass(confidences, bins)),
        nll=negative_log_likelihood(probabilities, gold),
        brier=brier(probabilities, gold),
    )


def decision_calibration(
    confidences: Floats, right: npt.NDArray[np.bool_], *, bins: int = BINS
) -> Calibration:
    """Measure the calibration of decisions (M,) that are right or wrong, such as predicted spans. M ≥ 1."""
    chances = np.where(right, confidences, 1 - confidences)
    return Calibration(
        width=reliability(confidences, right, equal_width(bins)),
        mass=reliability(confidences, right, equal_mass(confidences, bins)),
        nll=float(-np.log(np.maximum(chances, FLOOR)).mean()),
        brier=float(np.square(1 - chances).mean()),
    )


def decisions(probabilities: Floats, gold: Gold) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the probability of each decision (M,) and whether it is correct (M,)."""
    if gold.ndim == 2:
        return probabilities.ravel(), gold.ravel() > 0
    return probabilities.max(axis=1), probabilities.argmax(axis=1) == gold


def negative_log_likelihood(probabilities: Floats, gold: Gold) -> float | None:
    """Return the mean of -ln p(gold) over texts or, for multi-label texts, over all their labels."""
    if gold.ndim == 2:
        chances = np.where(gold > 0, probabilities, 1 - probabilities).ravel()
    else:
        known = np.flatnonzero(gold >= 0)
        chances = probabilities[known, gold[known]]
    return float(-np.log(np.maximum(chances, FLOOR)).mean()) if len(chances) else None


def brier(probabilities: Floats, gold: Gold) -> float:
    """Return the mean squared distance to the gold labels (Brier 1950).

    An unknown gold label counts as a separate class with probability 0.
    """
    if gold.ndim == 2:
        return float(np.square(probabilities - gold).mean())
    known = np.flatnonzero(gold >= 0)
    missing = probabilities.copy()
    missing[known, gold[known]] -= 1  # (N, K)
    return float((np.square(missing).sum(axis=1) + (gold < 0)).mean())


# --- temperature -----------------------------------------------------------------------------------------


def fit_temperature(scores: Floats, gold: Gold, *, doubt: float = 0.0) -> float:
    """Return the temperature T for which softmax(scores / T) fits the gold labels best (Guo 2017).

    For multi-label texts it is sigmoid(scores / T). The negative log-likelihood is convex in 1/T, so its
    slope changes sign once and bisection finds the root. T is 1 if the slope at T = 1 is flat or there are no
    scores. It is clipped to LOWEST..HIGHEST: if every text is correct, the best T would be 0. ``doubt``
    smooths the gold labels by this share. It keeps T moderate when there are few texts (Platt 1999 uses 1 /
    (N + 2)).
    """
    slope = _sigmoid_slope(scores, gold, doubt) if gold.ndim == 2 else _softmax_slope(scores, gold, doubt)
    at_one = slope(1.0)
    if abs(at_one) <= FLAT:
        return 1.0
    sign = np.sign(at_one)  # negative: a higher 1/T fits better
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
"""The derivative of the mean negative log-likelihood with respect to 1/T, as a function of 1/T."""


def _softmax_slope(scores: Floats, gold: Gold, doubt: float) -> Slope:
    known = np.flatnonzero(gold >= 0)
    below = scores[known].astype(np.float64)
    below -= below.max(axis=1, keepdims=True)  # (M, K), at most 0, so exp cannot overflow
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
