"""The results of a comparison: a row per cell, the best cell, and significance tests against it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gonie.experiments.grid import SIZE, Axis
from gonie.experiments.outcome import CellScores, Failure, Outcome
from gonie.metrics.significance import combine_tallies, randomization_test
from gonie.system.cost import RunCost, nested_energy

COSTS = tuple(RunCost().numbers())
"""The names of the numbers of ``RunCost``."""

LEFT_OUT = "data.leave_out"
"""The key whose values have different test data, so that each has a best cell."""
APART = (LEFT_OUT, SIZE)
"""The keys each of whose values has a best cell: settings are compared at the same training size."""


@dataclass(frozen=True)
class Spread:
    """The mean over runs, and their standard deviation if there is more than one."""

    mean: float
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """Return the spread of the known values, or None if there are none."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        return cls(statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else None)

    def to_json(self) -> dict[str, float | None]:
        """Return the values by name."""
        return {"mean": self.mean, "sd": self.sd}


@dataclass(frozen=True)
class ComparisonRow:
    """One cell: its values on the axes, the outcome of each run, and how it compares to the best cell.

    A run is a seed, or a seed and a fold. ``seeds`` and ``folds`` are those of the runs, in order.
    """

    name: str
    values: tuple[str, ...]
    folders: tuple[str, ...]
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    best: bool = False
    p: float | None = None  # p-value against the best; None for the best and without pairs
    folds: tuple[int, ...] = ()  # empty without folds

    @property
    def scores(self) -> list[CellScores]:
        """The scores of the runs that finished."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, CellScores)]

    @property
    def failures(self) -> list[Failure]:
        """The runs that failed."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, Failure)]

    @property
    def dev(self) -> Spread | None:
        """The score on dev, which selects the best cell."""
        return Spread.of([scores.dev for scores in self.scores])

    @property
    def train(self) -> Spread | None:
        """The score on training examples."""
        return Spread.of([scores.train for scores in self.scores])

    @property
    def test(self) -> Spread | None:
        """The score on test."""
        return Spread.of([scores.test for scores in self.scores])

    @property
    def best_epoch(self) -> Spread | None:
        """The best epoch on dev, from 1."""
        return Spread.of([scores.best_epoch for scores in self.scores])

    @property
    def seconds(self) -> Spread | None:
        """Seconds of training and scoring per run."""
        return Spread.of([scores.seconds for scores in self.scores])

    @property
    def cost(self) -> dict[str, Spread | None]:
        """What a run cost, by the names of ``COSTS``. A number is None if it is unknown for a run."""
        costs = [scores.cost and scores.cost.numbers() for scores in self.scores]
        known = [cost for cost in costs if cost]
        whole = bool(known) and len(known) == len(costs)
        return {name: _spread_of_all([cost[name] for cost in known]) if whole else None for name in COSTS}

    @property
    def unreachable(self) -> Spread | None:
        """The gold spans of the data of p that the tokens cannot express, and that count as missed."""
        return Spread.of([scores.tally.unreachable for scores in self.scores])

    @property
    def gap(self) -> float | None:
        """The difference between the score on training examples and the score on dev."""
        return None if self.train is None or self.dev is None else self.train.mean - self.dev.mean

    def to_json(self) -> dict[str, Any]:
        """Return the scores as fractions, and each run with its curve."""
        measured = ("dev", "train", "test", "unreachable", "best_epoch", "seconds")
        spreads = {name: getattr(self, name) for name in measured}
        folds: list[dict[str, int]] = [{"fold": fold} for fold in self.folds] or [{}] * len(self.seeds)
        runs = zip(self.folders, self.seeds, folds, self.outcomes, strict=True)
        return {
            "values": list(self.values),
            **{name: spread and spread.to_json() for name, spread in spreads.items()},
            "cost": nested_energy({name: spread and spread.to_json() for name, spread in self.cost.items()}),
            "best": self.best,
            "p": self.p,
            "runs": [
                {"folder": folder, "seed": seed, **fold, **_run_json(run)} for folder, seed, fold, run in runs
            ],
        }


def _spread_of_all(values: Sequence[float | None]) -> Spread | None:
    """Return the spread of the values, or None if one is unknown."""
    return None if None in values else Spread.of(values)


def _run_json(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of a run without its tally, which is only in its result file."""
    return {key: value for key, value in outcome.to_json().items() if key != "tally"}


@dataclass(frozen=True)
class Comparison:
    """All rows in the requested order, with the best one marked, or that of each domain left out or size.

    The best row has the highest mean dev score. A domain or a size with a single row has none.
    """

    axes: tuple[Axis, ...]
    rows: tuple[ComparisonRow, ...]

    @classmethod
    def from_rows(
        cls,
        axes: Sequence[Axis],
        rows: Sequence[ComparisonRow],
        tested: Callable[[int], None] = lambda number: None,
    ) -> Comparison:
        """Select the best row by mean dev score (first on ties) and test the others against it.

        ``tested`` is called with the number of finished rows, because each test takes a moment on many
        examples.
        """
        found, done = list(rows), 0
        for places in _compared(axes, rows):
            best = max((rows[at] for at in places), key=lambda row: row.dev.mean if row.dev else -1.0)
            for at in places:
                found[at] = rows[at] if best.dev is None else _tested(rows[at], best)
                done += 1
                tested(done)
        return cls(tuple(axes), tuple(found))

    @property
    def left_out(self) -> Axis | None:
        """The domains that are left out in turn, if any."""
        return next((axis for axis in self.axes if axis.key == LEFT_OUT), None)

    @property
    def sizes(self) -> Axis | None:
        """The training sizes, if there are any."""
        return next((axis for axis in self.axes if axis.key == SIZE), None)

    @property
    def best(self) -> ComparisonRow | None:
        """The best row, or None if every run failed, domains are left out or sizes compared."""
        apart = self.left_out or self.sizes
        return None if apart else next((row for row in self.rows if row.best), None)

    @property
    def metric(self) -> str:
        """``F1``, ``token F1`` or ``accuracy``, or ``score`` if the cells use different metrics."""
        metrics = self.metrics
        return metrics[0] if len(metrics) == 1 else "score"

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics of all cells. Scores of different metrics cannot be compared."""
        return sorted({scores.metric for row in self.rows for scores in row.scores})

    @property
    def seeds(self) -> int:
        """The number of seeds per cell."""
        return max((len(set(row.seeds)) for row in self.rows), default=0)

    @property
    def folds(self) -> int:
        """The number of folds, or 0 without cross-validation."""
        return max((fold for row in self.rows for fold in row.folds), default=0)

    @property
    def tested_on(self) -> str:
        """The split that p refers to."""
        return "test" if any(row.test for row in self.rows) else "dev"

    @property
    def has_unreachable(self) -> bool:
        """Whether a cell has gold spans that its tokens cannot express."""
        return any(row.unreachable is not None and row.unreachable.mean > 0 for row in self.rows)

    @property
    def costs(self) -> list[str]:
        """The names of the numbers of ``RunCost`` that are known for a cell. Those of a GPU need one."""
        unused = set() if self.uses_gpu else {"gpu_seconds"}
        return [name for name in COSTS if name not in unused and any(row.cost[name] for row in self.rows)]

    @property
    def uses_gpu(self) -> bool:
        """Whether a cell was trained on a GPU."""
        spreads = [row.cost["gpu_seconds"] for row in self.rows]
        return any(spread is not None and spread.mean > 0 for spread in spreads)

    @property
    def failures(self) -> int:
        """The number of failed runs."""
        return sum(len(row.failures) for row in self.rows)

    def rows_with(self, axis: Axis, value: str) -> list[ComparisonRow]:
        """Return the rows that have ``value`` on ``axis`` and a score."""
        at = self.axes.index(axis)
        return [row for row in self.rows if row.values[at] == value and row.dev is not None]

    def to_json(self) -> dict[str, Any]:
        """Return the content of results.json."""
        axes = [{"key": axis.key, "label": axis.label, "values": list(axis.values)} for axis in self.axes]
        return {
            "metric": self.metric,
            "tested_on": self.tested_on,
            "seeds": self.seeds,
            "folds": self.folds,
            "axes": axes,
            "cells": [row.to_json() for row in self.rows],
        }

    def summary(self) -> list[str]:
        """Return a summary in sentences: the best cell, and what each axis suggests to try next."""
        if self.left_out and any(row.dev for row in self.rows):
            return [*self._warning(), *self._means_over(self.left_out)]
        if self.sizes and any(row.dev for row in self.rows):
            return self._warning()
        best = self.best
        if best is None or best.dev is None:
            return ["all runs failed"]
        gap = "" if best.gap is None else f", train - dev {100 * best.gap:.2f}"
        named = f" with {best.name}" if best.name else ""
        first = f"best{named}: dev {self.metric} {100 * best.dev.mean:.2f}{gap}"
        return [*self._warning(), first, *(self._advice(axis, best) for axis in self.axes)]

    def _means_over(self, domains: Axis) -> Iterator[str]:
        """Yield the mean scores on the domains that were left out, whose cells have different data.

        There is a sentence for each value of the other axes, the highest score first.
        """
        place = self.axes.index(domains)
        groups: dict[str, list[ComparisonRow]] = {}
        for row in self.rows:
            others = [
                f"{axis.label}={value}"
                for at, (axis, value) in enumerate(zip(self.axes, row.values, strict=True))
                if at != place
            ]
            groups.setdefault(", ".join(others), []).append(row)
        means = {
            name: statistics.fmean(row.test.mean for row in rows if row.test is not None)
            for name, rows in groups.items()
            if any(row.test is not None for row in rows)
        }
        for name in sorted(means, key=lambda name: -means[name]):
            mean = f"mean {self.metric} on the domains left out: {100 * means[name]:.2f}"
            yield f"{name}: {mean}" if name else mean

    def _warning(self) -> list[str]:
        if len(self.metrics) == 1:
            return []
        return [f"warning: cells are scored by {' and '.join(self.metrics)}, which cannot be compared"]

    def _advice(self, axis: Axis, best: ComparisonRow) -> str:
        value = best.values[self.axes.index(axis)]
        return f"{axis.label}: best at {value}{_edge(axis, value)}{self._gaps(axis)}"

    def _gaps(self, axis: Axis) -> str:
        """Return train - dev at each value as text. A growing gap means overfitting."""
        shown = []
        for value in axis.values:
            gaps = [row.gap for row in self.rows_with(axis, value) if row.gap is not None]
            if gaps:
                shown.append(f"{value}: {100 * statistics.fmean(gaps):.1f}")
        return f"; train - dev by value: {', '.join(shown)}" if shown else ""


def _edge(axis: Axis, value: str) -> str:
    """Return a hint if a value is at the edge of a swept range, where a better one may lie beyond."""
    if axis.numbers is None:
        return ""
    number = axis.numbers[axis.values.index(value)]
    if number == max(axis.numbers):
        return ", the highest value tried; try higher"
    if number == min(axis.numbers):
        return (
            ", the lowest value tried; try lower" if number else ", the lowest possible value"
        )  # no key goes below 0
    return ""


def _compared(axes: Sequence[Axis], rows: Sequence[ComparisonRow]) -> Iterator[list[int]]:
    """Yield the numbers of the rows that are compared: all, or those of each domain left out or size.

    A domain or a size with a single row has nothing to compare.
    """
    apart = [at for at, axis in enumerate(axes) if axis.key in APART]
    if not apart:
        yield list(range(len(rows)))
        return
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(tuple(row.values[at] for at in apart), []).append(number)
    yield from (group for group in groups.values() if len(group) > 1)


def _tested(row: ComparisonRow, best: ComparisonRow) -> ComparisonRow:
    if row is best:
        return replace(row, best=True)
    pairs = list(_pairs(row, best))
    if not pairs:
        return row
    own, others = (combine_tallies([scores.tally for scores in side]) for side in zip(*pairs, strict=True))
    return replace(row, p=randomization_test(own, others))


def _pairs(row: ComparisonRow, best: ComparisonRow) -> Iterator[tuple[CellScores, CellScores]]:
    """Yield the runs of two rows in pairs, where neither failed."""
    for one, other in zip(row.outcomes, best.outcomes, strict=True):
        if isinstance(one, CellScores) and isinstance(other, CellScores):
            yield one, other
