"""What a comparison found: a row for each cell, which is best, and whether the others are worse by luck."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gonie.experiments.grid import Axis
from gonie.experiments.outcome import CellScores, Failure, Outcome
from gonie.metrics.significance import randomization_test, together


@dataclass(frozen=True)
class Spread:
    """The mean over runs, and their standard deviation where there are several."""

    mean: float
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """None where nothing was measured."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        return cls(statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else None)

    def to_json(self) -> dict[str, float | None]:
        """By name."""
        return {"mean": self.mean, "sd": self.sd}


@dataclass(frozen=True)
class ComparisonRow:
    """One cell: its values on the axes, how each of its runs ended, and how it stands to the best cell.

    A run is a seed, or a seed and a fold; ``seeds`` and ``folds`` are theirs, in order.
    """

    name: str
    values: tuple[str, ...]
    folders: tuple[str, ...]
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    best: bool = False
    p: float | None = None  # that it is as good as the best; None for the best and where it cannot be paired
    folds: tuple[int, ...] = ()  # none without folds

    @property
    def scores(self) -> list[CellScores]:
        """Of the runs that came to their end."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, CellScores)]

    @property
    def failures(self) -> list[Failure]:
        """Of the others."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, Failure)]

    @property
    def dev(self) -> Spread | None:
        """Score on dev, by which the best cell is chosen."""
        return Spread.of([scores.dev for scores in self.scores])

    @property
    def train(self) -> Spread | None:
        """Score on training examples."""
        return Spread.of([scores.train for scores in self.scores])

    @property
    def test(self) -> Spread | None:
        """Score on test."""
        return Spread.of([scores.test for scores in self.scores])

    @property
    def best_epoch(self) -> Spread | None:
        """The epoch, from 1, that was best on dev."""
        return Spread.of([scores.best_epoch for scores in self.scores])

    @property
    def seconds(self) -> Spread | None:
        """Of training and scoring, for one run."""
        return Spread.of([scores.seconds for scores in self.scores])

    @property
    def gap(self) -> float | None:
        """By how much the score on training examples is above that on dev."""
        return None if self.train is None or self.dev is None else self.train.mean - self.dev.mean

    def to_json(self) -> dict[str, Any]:
        """Scores as fractions; each run with its curve."""
        spreads = {name: getattr(self, name) for name in ("dev", "train", "test", "best_epoch", "seconds")}
        folds: list[dict[str, int]] = [{"fold": fold} for fold in self.folds] or [{}] * len(self.seeds)
        runs = zip(self.folders, self.seeds, folds, self.outcomes, strict=True)
        return {
            "values": list(self.values),
            **{name: spread and spread.to_json() for name, spread in spreads.items()},
            "best": self.best,
            "p": self.p,
            "runs": [
                {"folder": folder, "seed": seed, **fold, **_run_json(run)} for folder, seed, fold, run in runs
            ],
        }


def _run_json(outcome: Outcome) -> dict[str, Any]:
    """A run's outcome without its tally, which only its own file keeps."""
    return {key: value for key, value in outcome.to_json().items() if key != "tally"}


@dataclass(frozen=True)
class Comparison:
    """All rows, in the order asked."""

    axes: tuple[Axis, ...]
    rows: tuple[ComparisonRow, ...]

    @classmethod
    def judge(
        cls,
        axes: Sequence[Axis],
        rows: Sequence[ComparisonRow],
        tested: Callable[[int], None] = lambda number: None,
    ) -> Comparison:
        """Choose the best row by its dev mean, the first of equals, and test the others against it.

        ``tested`` is told how many rows are done: over many examples each takes a moment.
        """
        best = max(rows, key=lambda row: row.dev.mean if row.dev else -1.0)
        if best.dev is None:
            return cls(tuple(axes), tuple(rows))
        judged = []
        for number, row in enumerate(rows, 1):
            judged.append(_judged(row, best))
            tested(number)
        return cls(tuple(axes), tuple(judged))

    @property
    def best(self) -> ComparisonRow | None:
        """The best row; None where every run failed."""
        return next((row for row in self.rows if row.best), None)

    @property
    def metric(self) -> str:
        """``F1``, ``token F1`` or ``accuracy``; ``score`` where cells differ in it."""
        metrics = self.metrics
        return metrics[0] if len(metrics) == 1 else "score"

    @property
    def metrics(self) -> list[str]:
        """What the cells are scored by, by name; of several, no two can be compared."""
        return sorted({scores.metric for row in self.rows for scores in row.scores})

    @property
    def seeds(self) -> int:
        """How many seeds a cell was trained with."""
        return max((len(set(row.seeds)) for row in self.rows), default=0)

    @property
    def folds(self) -> int:
        """How many folds there are; 0 if the data has its own test file, or none."""
        return max((fold for row in self.rows for fold in row.folds), default=0)

    @property
    def tested_on(self) -> str:
        """The split that p is about."""
        return "test" if any(row.test for row in self.rows) else "dev"

    @property
    def failures(self) -> int:
        """How many runs failed."""
        return sum(len(row.failures) for row in self.rows)

    def rows_with(self, axis: Axis, value: str) -> list[ComparisonRow]:
        """The rows that have ``value`` on ``axis`` and a score."""
        at = self.axes.index(axis)
        return [row for row in self.rows if row.values[at] == value and row.dev is not None]

    def to_json(self) -> dict[str, Any]:
        """What results.json holds."""
        axes = [{"key": axis.key, "label": axis.label, "values": list(axis.values)} for axis in self.axes]
        return {
            "metric": self.metric,
            "tested_on": self.tested_on,
            "seeds": self.seeds,
            "folds": self.folds,
            "axes": axes,
            "cells": [row.to_json() for row in self.rows],
        }

    def reading(self) -> list[str]:
        """The comparison in sentences: the best cell, and what each axis suggests to try next."""
        best = self.best
        if best is None or best.dev is None:
            return ["no run came to its end"]
        gap = "" if best.gap is None else f", train - dev {100 * best.gap:.2f}"
        named = f" with {best.name}" if best.name else ""
        first = f"best{named}: dev {self.metric} {100 * best.dev.mean:.2f}{gap}"
        return [*self._warning(), first, *(self._advice(axis, best) for axis in self.axes)]

    def _warning(self) -> list[str]:
        if len(self.metrics) == 1:
            return []
        return [f"take care: cells are scored by {' and '.join(self.metrics)}, which cannot be compared"]

    def _advice(self, axis: Axis, best: ComparisonRow) -> str:
        value = best.values[self.axes.index(axis)]
        return f"{axis.label}: best at {value}{_edge(axis, value)}{self._gaps(axis)}"

    def _gaps(self, axis: Axis) -> str:
        """Train - dev at each value: where it grows, the model learns by heart."""
        shown = []
        for value in axis.values:
            gaps = [row.gap for row in self.rows_with(axis, value) if row.gap is not None]
            if gaps:
                shown.append(f"{value}: {100 * statistics.fmean(gaps):.1f}")
        return f"; train - dev by value: {', '.join(shown)}" if shown else ""


def _edge(axis: Axis, value: str) -> str:
    """Whether a value is the end of a swept range, beyond which a better one may lie."""
    if axis.numbers is None:
        return ""
    number = axis.numbers[axis.values.index(value)]
    if number == max(axis.numbers):
        return ", the highest tried: try higher"
    if number == min(axis.numbers):
        return ", the lowest tried: try lower" if number else ", the lowest there is"  # no key goes below 0
    return ""


def _judged(row: ComparisonRow, best: ComparisonRow) -> ComparisonRow:
    if row is best:
        return replace(row, best=True)
    pairs = list(_pairs(row, best))
    if not pairs:
        return row
    own, others = (together([scores.tally for scores in side]) for side in zip(*pairs, strict=True))
    return replace(row, p=randomization_test(own, others))


def _pairs(row: ComparisonRow, best: ComparisonRow) -> Iterator[tuple[CellScores, CellScores]]:
    """The runs of two rows, first with first and so on, where neither failed."""
    for one, other in zip(row.outcomes, best.outcomes, strict=True):
        if isinstance(one, CellScores) and isinstance(other, CellScores):
            yield one, other
