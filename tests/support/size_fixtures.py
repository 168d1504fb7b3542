"""Comparisons over training sizes for tests of their reports."""

from __future__ import annotations

from gonie.metrics.score_curves import ScoreCurve, ScorePoint
from gonie.reports.size_comparison import ModelCost, SizeComparison, SizeLine

SIZES = (20.0, 100.0, 500.0, 3010.0)


def size_line(
    name: str,
    *means: float | None,
    sd: float | None = None,
    constant: bool = False,
    labelled: int | None = None,
    milliseconds: float = 1.0,
) -> SizeLine:
    """Return a line with these means, without those that are None."""
    pairs = zip(SIZES, means, strict=False)
    points = tuple(ScorePoint(size, mean, sd) for size, mean in pairs if mean is not None)
    cost = ModelCost(1000 / milliseconds, milliseconds, 6.5)
    return SizeLine(ScoreCurve(name, points), cost, constant, labelled)


def size_comparison(*lines: SizeLine, seeds: int = 3) -> SizeComparison:
    """Return a comparison of lines."""
    return SizeComparison("F1", "test", "sentences", SIZES, seeds, lines)


def crossing(*, sd: float | None = 0.01, seeds: int = 3) -> SizeComparison:
    """Return a comparison in which an in-context model is best at first, and a tuned one at the end."""
    return size_comparison(
        size_line("in-context", 0.40, 0.41, 0.42, 0.43, sd=sd, milliseconds=2400),
        size_line("tuned transformer", 0.20, 0.50, 0.70, 0.80, sd=sd, milliseconds=9),
        size_line("BiLSTM-CRF", 0.08, 0.30, 0.55, 0.72, sd=sd),
        size_line("old", 0.3, 0.3, 0.3, 0.3, constant=True),
        seeds=seeds,
    )
