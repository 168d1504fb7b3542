"""The bootstrap intervals of one evaluation, all from the same resamples.

Every score of an evaluation is a function of summed counts. All scores use the same draws, so their intervals
are consistent with each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gonie.metrics.bootstrap import Floats, intervals
from gonie.metrics.counts import SentenceCounts
from gonie.metrics.novelty import Novelty

Interval = tuple[float, float]

SCORES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Intervals:
    """Percentile intervals: ``overall`` (f1, accuracy, macro_f1 …), per type and per novelty class."""

    resamples: int
    seed: int
    level: float
    overall: Mapping[str, Interval]
    types: Mapping[str, Mapping[str, Interval]]
    novelty: Mapping[str, Interval]

    def to_json(self) -> dict[str, object]:
        """Return the intervals as [low, high] fractions."""
        return {
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            **{name: list(pair) for name, pair in self.overall.items()},
            "types": {
                label: {name: list(pair) for name, pair in scores.items()}
                for label, scores in self.types.items()
            },
            "novelty": {name: list(pair) for name, pair in self.novelty.items()},
        }


def bootstrap_intervals(
    *,
    spans: SentenceCounts,
    tokens: SentenceCounts,
    novelty: SentenceCounts | None,
    labels: Sequence[str],
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> Intervals:
    """Return intervals from the tables of ``span_counts``, ``token_counts`` and ``novelty_counts``.

    Their shapes are (N, 3L), (N, 2) and (N, 8).
    """
    parts = [spans, tokens] if novelty is None else [spans, tokens, novelty]
    counts = SentenceCounts.hstack(parts)
    pairs = intervals(
        counts, lambda sums: _scores(sums, len(labels)), resamples=resamples, seed=seed, level=level
    )
    found = iter([(float(low), float(high)) for low, high in pairs])
    overall = {name: next(found) for name in (*SCORES, *(f"macro_{name}" for name in SCORES), "accuracy")}
    types = {label: {name: next(found) for name in SCORES} for label in labels}
    return Intervals(
        resamples=resamples,
        seed=seed,
        level=level,
        overall=overall,
        types=types,
        novelty={} if novelty is None else {kind.value: next(found) for kind in Novelty},
    )


def _scores(sums: Floats, labels: int) -> Floats:
    """Map summed counts (R, 3L + 2 [+ 8]) to scores (R, S): micro, macro, accuracy, types, novelty."""
    resamples = len(sums)
    by_type = sums[:, : 3 * labels].reshape(resamples, labels, 3)  # (R, L, 3)
    types = precision_recall_f1(by_type)  # (R, L, 3)
    present = (by_type[:, :, :2].sum(axis=2) > 0).sum(axis=1, keepdims=True)  # (R, 1)
    macro = divide(np.nan_to_num(types).sum(axis=1), present)  # (R, 3)
    rest = sums[:, 3 * labels :]  # (R, 2 [+ 8])
    pieces = [
        precision_recall_f1(by_type.sum(axis=1)),
        macro,
        divide(rest[:, 0], rest[:, 1])[:, None],
        types.reshape(resamples, -1),
        divide(
            rest[:, 3::2], rest[:, 2::2]
        ),  # correct / gold of each novelty class; no columns without novelty
    ]
    return np.concatenate(pieces, axis=1)


def precision_recall_f1(counts: Floats) -> Floats:
    """Map (…, 3) gold, predicted, correct to (…, 3) precision, recall, F1, nan where undefined."""
    gold, predicted, correct = np.moveaxis(counts, -1, 0)
    return np.stack(
        [divide(correct, predicted), divide(correct, gold), divide(2 * correct, gold + predicted)], axis=-1
    )


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, nan where the denominator is 0."""
    quotient = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
