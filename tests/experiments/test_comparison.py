"""Tests the results of a comparison: the best cell, p-values, means and the summary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gonie.experiments.comparison import Comparison, ComparisonRow, Spread
from gonie.experiments.grid import Axis, Grid, read_grid
from gonie.experiments.outcome import CellScores, Failure, Outcome, Point
from gonie.metrics.significance import Tally, randomization_test


def scores(dev: float, *, train: float | None = None, correct: int = 5, data: str = "d") -> CellScores:
    counts = np.array([[1, 1, int(at < correct)] for at in range(10)])
    curve = (Point(1, dev / 2, None), Point(2, dev, train))
    return CellScores("F1", dev, train, None, 2, 1.0, curve, Tally(data, counts))


def compared(grid: Grid, *cells: list[Outcome]) -> Comparison:
    rows = [
        ComparisonRow(
            name=grid.name(cell),
            values=cell.values,
            folders=tuple(f"cells/{at}-{seed}" for seed in range(len(outcomes))),
            seeds=tuple(range(len(outcomes))),
            outcomes=tuple(outcomes),
        )
        for at, (cell, outcomes) in enumerate(zip(grid.cells, cells, strict=True))
    ]
    return Comparison.from_rows(grid.axes, rows)


def test_cells_with_different_metrics_get_a_warning() -> None:
    """F1 over tokens is much higher than F1 over spans, so the wrong model would seem better."""
    grid = read_grid(["ner"], ["data.model_scheme=IO,BIOES"])
    found = compared(grid, [replace(scores(0.9), metric="token F1")], [scores(0.8)])
    assert found.metric == "score"
    assert found.summary()[0] == "warning: cells are scored by F1 and token F1, which cannot be compared"
    assert not any("warning" in line for line in compared(grid, [scores(0.9)], [scores(0.8)]).summary())


THREE = read_grid(["ner"], ["train.lr=0.1,0.2,0.3"])


def test_the_best_cell_is_the_first_with_the_best_dev_score() -> None:
    found = compared(THREE, [scores(0.5)], [scores(0.7)], [scores(0.7)])
    assert [row.best for row in found.rows] == [False, True, False]
    assert found.best is found.rows[1]


def test_p_compares_each_cell_with_the_best_over_all_seeds() -> None:
    cells = ([scores(0.5, correct=1)] * 2, [scores(0.9, correct=9)] * 2, [scores(0.8, correct=8)] * 2)
    found = compared(THREE, *cells)
    twice = [Tally("d+d", 2 * cell[0].tally.counts) for cell in cells]
    assert found.rows[0].p == randomization_test(twice[0], twice[1])
    assert found.rows[1].p is None
    assert found.rows[2].p == 1.0, "one sentence may always be luck"
    assert found.rows[0].p < 0.02


def test_cells_scored_on_other_sentences_have_no_p() -> None:
    found = compared(THREE, [scores(0.5)], [scores(0.7, data="other")], [scores(0.6, data="other")])
    assert [row.p is None for row in found.rows] == [True, True, False]


def test_failed_seeds_are_left_out_of_means_and_p_values() -> None:
    mixed: list[Outcome] = [Failure("the loss became nan"), scores(0.5, correct=1)]
    found = compared(
        THREE, mixed, [scores(0.9, correct=9), scores(0.7, correct=7)], [Failure("x"), Failure("y")]
    )
    assert found.rows[0].dev == Spread(0.5, None)
    assert found.rows[0].p == randomization_test(scores(0, correct=1).tally, scores(0, correct=7).tally)
    assert found.rows[2].dev is None
    assert found.rows[2].p is None
    assert found.failures == 3
    assert found.best is found.rows[1]


def test_a_comparison_without_successful_runs_has_no_best_cell() -> None:
    found = compared(THREE, *([Failure("x")] for _ in range(3)))
    assert found.best is None
    assert found.summary() == ["all runs failed"]


def test_spread_is_the_mean_and_standard_deviation_of_seeds() -> None:
    assert Spread.of([0.1, 0.3]) == Spread(pytest.approx(0.2), pytest.approx(0.02**0.5))
    assert Spread.of([0.4]) == Spread(0.4, None)
    assert Spread.of([None, 0.4]) == Spread(0.4, None)
    assert Spread.of([None]) is None


@pytest.mark.parametrize(
    ("best", "words"),
    [
        (0, "lr: best at 0.3, the highest value tried; try higher"),
        (1, "lr: best at 0.1, the lowest value tried; try lower"),
    ],
)
def test_a_best_value_at_the_edge_of_the_range_is_reported(best: int, words: str) -> None:
    grid = read_grid(["ner"], ["train.lr=0.3,0.1,0.2"])
    cells: list[list[Outcome]] = [[scores(0.9 if at == best else 0.5)] for at in range(3)]
    assert compared(grid, *cells).summary()[1].startswith(words)


def test_no_value_below_zero_is_suggested() -> None:
    grid = read_grid(["ner"], ["model.dropout.input=0,0.5"])
    assert (
        compared(grid, [scores(0.9)], [scores(0.5)]).summary()[1]
        == "input: best at 0, the lowest possible value"
    )


def test_no_value_is_suggested_inside_the_range_or_for_categories() -> None:
    inside = compared(THREE, [scores(0.5)], [scores(0.9)], [scores(0.5)])
    assert inside.summary()[1] == "lr: best at 0.2"
    names = compared(read_grid(["ner"], ["model.encoder.kind=lstm,rnn"]), [scores(0.9)], [scores(0.5)])
    assert names.summary()[1] == "kind: best at lstm"


def test_the_gap_between_train_and_dev_is_reported_by_value() -> None:
    found = compared(THREE, [scores(0.5, train=0.6)], [scores(0.6, train=0.9)], [scores(0.55, train=1.0)])
    first, second = found.summary()
    assert first == "best with lr=0.2: dev F1 60.00, train - dev 30.00"
    assert second == "lr: best at 0.2; train - dev by value: 0.1: 10.0, 0.2: 30.0, 0.3: 45.0"


def test_a_comparison_without_axes_summarises_its_only_cell() -> None:
    found = compared(read_grid(["ner"], []), [scores(0.5), scores(0.7)])
    assert found.summary() == ["best: dev F1 60.00"]


def test_rows_with_a_value_exclude_failed_cells() -> None:
    grid = read_grid(["ner"], ["train.lr=1,2", "train.epochs=3,4"])
    found = compared(grid, [scores(0.1)], [Failure("x")], [scores(0.3)], [scores(0.4)])
    epochs = found.axes[1]
    assert isinstance(epochs, Axis)
    assert [row.name for row in found.rows_with(epochs, "4")] == ["lr=2 epochs=4"]


def test_the_json_has_every_number_but_no_tally() -> None:
    found = compared(THREE, [scores(0.5)], [scores(0.7)], [Failure("why")]).to_json()
    assert found["axes"] == [{"key": "train.lr", "label": "lr", "values": ["0.1", "0.2", "0.3"]}]
    assert [cell["best"] for cell in found["cells"]] == [False, True, False]
    assert found["cells"][1]["dev"] == {"mean": 0.7, "sd": None}
    assert found["cells"][0]["runs"][0]["curve"][1]["dev"] == 0.5
    assert "tally" not in found["cells"][0]["runs"][0]
    assert found["cells"][2]["runs"] == [{"folder": "cells/2-0", "seed": 0, "error": "why"}]
    assert found["cells"][2]["dev"] is None
    assert (found["metric"], found["tested_on"]) == ("F1", "dev")


def test_domains_left_out_have_a_mean_instead_of_a_best_one() -> None:
    """Each cell is scored on another domain, so the highest score is that of the easiest domain."""
    grid = read_grid(["ner"], ["train.lr=0.1,0.2", "data.leave_out=web,news"])
    cells: list[list[Outcome]] = [
        [replace(scores(dev), test=test)] for dev, test in ((0.9, 0.1), (0.5, 0.3), (0.4, 0.5), (0.7, 0.7))
    ]
    found = compared(grid, *cells)
    assert found.best is None
    assert [row.best for row in found.rows] == [True, False, False, True], "the better one of each domain"
    assert not any(row.best for row in compared(read_grid(["ner"], ["data.leave_out=a,b"]), *cells[:2]).rows)
    assert found.summary() == [
        "lr=0.2: mean F1 on the domains left out: 60.00",
        "lr=0.1: mean F1 on the domains left out: 20.00",
    ]
