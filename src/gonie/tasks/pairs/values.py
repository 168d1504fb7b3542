"""Evaluation of predicted values: correlation with the gold values, and errors.

Pearson's correlation is the usual score of sentence similarity (STS). Its 95% interval is a bootstrap over
pairs, as for every other score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.metrics.bootstrap import draws, percentiles
from gonie.metrics.counts import Counts
from gonie.metrics.intervals import Interval
from gonie.text.labelled_text import LabelledPair

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""A variance below this share of the mean square is taken as rounding error."""


@dataclass(frozen=True, slots=True)
class PairError:
    """A pair with a wrong label, or with its predicted and gold value.

    ``confidence`` is the probability of the wrong label, or the distance of the two values as a share of the
    range of gold values.
    """

    confidence: float
    kind: str
    gold: str
    predicted: str
    text: str
    text_pair: str
    file: str
    line: int


@dataclass(frozen=True)
class ValueEvaluation:
    """All measurements on the pairs of one file."""

    pairs: int
    pearson: float
    spearman: float
    mean_absolute_error: float
    root_mean_squared_error: float
    pearson_interval: Interval | None
    gold: tuple[float, ...]
    predicted: tuple[float, ...]
    worst_first: tuple[PairError, ...]

    @property
    def headline(self) -> tuple[str, float]:
        """The main score: Pearson's correlation."""
        return "pearson", self.pearson

    @property
    def by_type(self) -> list[tuple[str, Counts]]:
        """Nothing: values have no types."""
        return []

    def interval(self, score: str) -> Interval | None:
        """Return the 95% interval of a score, or None."""
        return self.pearson_interval if score == "pearson" else None

    def errors(self) -> list[PairError]:
        """Return every pair, the one with the largest error first."""
        return list(self.worst_first)

    def to_json(self) -> dict[str, object]:
        """Return the scores as plain values."""
        return {
            "headline": "pearson",
            "pearson": self.pearson,
            "spearman": self.spearman,
            "mean_absolute_error": self.mean_absolute_error,
            "root_mean_squared_error": self.root_mean_squared_error,
            "intervals": None if self.pearson_interval is None else {"pearson": list(self.pearson_interval)},
            "pairs": self.pairs,
        }


def evaluate_values(
    pairs: Sequence[LabelledPair], predicted: Sequence[float], *, bootstrap: int = 1000, seed: int = 0
) -> ValueEvaluation:
    """Compare predicted values with those of the pairs. ``bootstrap`` is the number of resamples."""
    if not pairs:
        raise InputError("no pairs to score")
    gold = np.array([np.nan if pair.value is None else pair.value for pair in pairs])  # (N,)
    if np.isnan(gold).any():
        missing = pairs[int(np.isnan(gold).argmax())]
        raise InputError("no gold value for a pair", path=missing.path or None, line=missing.line or None)
    guess = np.array(predicted, dtype=np.float64)  # (N,)
    order = np.argsort(-np.abs(guess - gold), kind="stable")
    return ValueEvaluation(
        pairs=len(pairs),
        pearson=correlation(gold, guess),
        spearman=correlation(ranks(gold), ranks(guess)),
        mean_absolute_error=float(np.abs(guess - gold).mean()),
        root_mean_squared_error=float(np.sqrt(np.square(guess - gold).mean())),
        pearson_interval=_interval(gold, guess, resamples=bootstrap, seed=seed) if bootstrap else None,
        gold=tuple(gold.tolist()),
        predicted=tuple(guess.tolist()),
        worst_first=tuple(_error(pairs[row], gold[row], guess[row], float(np.ptp(gold))) for row in order),
    )


def correlation(one: Floats, other: Floats) -> float:
    """Return Pearson's correlation, 0 if one side is constant."""
    return float(_correlations(np.ones((1, len(one))), one, other)[0])


def ranks(values: Floats) -> Floats:
    """Return the ranks of values from 1, the mean rank for ties."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[places], dtype=np.float64)


def _correlations(weights: Floats, one: Floats, other: Floats) -> Floats:
    """Return the weighted correlation for each row of weights: (R, N), (N,), (N,) -> (R,)."""
    one, other = one - one.mean(), other - other.mean()  # for precision; correlation does not change
    total = weights.sum(axis=1)
    means = weights @ np.stack([one, other, one * one, other * other, one * other], axis=1)  # (R, 5)
    x, y, xx, yy, xy = (means / total[:, None]).T
    spread = np.sqrt(_variance(x, xx) * _variance(y, yy))
    found = np.zeros(len(weights))
    np.divide(xy - x * y, spread, out=found, where=spread > 0)
    return found.clip(-1.0, 1.0)


def _variance(mean: Floats, squares: Floats) -> Floats:
    """Return the variance, 0 if it is only rounding error."""
    found = squares - mean * mean
    return np.where(found > ROUNDING * squares, found, 0.0)


def _interval(gold: Floats, guess: Floats, *, resamples: int, seed: int) -> Interval | None:
    """Return the interval of the correlation, or None if it is undefined because one side is constant."""
    if np.ptp(gold) == 0 or np.ptp(guess) == 0:
        return None
    blocks = [
        _correlations(weights, gold, guess) for weights in draws(len(gold), resamples=resamples, seed=seed)
    ]
    low, high = percentiles(np.concatenate(blocks)[:, None])[0].tolist()
    return low, high


def _error(pair: LabelledPair, gold: float, predicted: float, spread: float) -> PairError:
    return PairError(
        confidence=min(1.0, abs(predicted - gold) / (spread or 1.0)),
        kind=f"off by {predicted - gold:+.2f}",
        gold=f"{gold:.2f}",
        predicted=f"{predicted:.2f}",
        text=pair.first,
        text_pair=pair.second,
        file=pair.path,
        line=pair.line,
    )
