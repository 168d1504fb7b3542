"""Tests the tables of a comparison, in Markdown for papers and in TSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from gonie.api.compare import ComparedRecipes
from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.grid import read_grid
from gonie.experiments.outcome import CellScores, Failure, Outcome, Point
from gonie.experiments.tables import cells, failures, header, markdown, note, tsv
from gonie.metrics.significance import Tally
from gonie.system.cost import RunCost


def scores(
    dev: float, train: float | None, test: float | None, right: int, unreachable: int = 0
) -> CellScores:
    counts = np.array([[1, 1, int(at < right)] for at in range(20)])
    tally = Tally("d", counts, unreachable)
    return CellScores("F1", dev, train, test, 3, 2.04, (Point(1, dev, train),), tally)


def comparison(train: bool = True, test: bool = True, direct: str = '[],["a|b"]') -> Comparison:
    grid = read_grid(["ner"], ["train.lr=0.1,0.2", f"model.head.direct={direct}"])
    outcomes: list[list[Outcome]] = [
        [scores(0.5, 0.6 if train else None, 0.4 if test else None, 2), scores(0.6, None, None, 2)],
        [scores(0.9, 0.95 if train else None, 0.8 if test else None, 20)] * 2,
        [scores(0.9, None, None, 20), Failure("the loss\nbecame nan")],
        [Failure("x"), Failure("y")],
    ]
    rows = [
        ComparisonRow(grid.name(cell), cell.values, (f"c/{at}-1", f"c/{at}-2"), (1, 2), tuple(found))
        for at, (cell, found) in enumerate(zip(grid.cells, outcomes, strict=True))
    ]
    return Comparison.from_rows(grid.axes, rows)


def test_there_is_one_row_per_cell_in_order() -> None:
    made = comparison()
    assert header(made) == ["lr", "direct", "dev F1", "train", "test", "best epoch", "seconds", "p"]
    rows = [cells(made, row) for row in made.rows]
    assert rows[0] == ["0.1", "[]", "55.00 ± 7.07", "60.00", "40.00", "3", "2.0", "<0.001"]
    assert rows[1] == ["0.1", '["a|b"]', "90.00 ± 0.00", "95.00 ± 0.00", "80.00 ± 0.00", "3", "2.0", "best"]
    assert rows[2][2:] == ["90.00", "–", "–", "3", "2.0", "1.000, 1 failed"]
    assert rows[3][2:] == ["–", "–", "–", "–", "–", "failed"]


def test_columns_without_scores_are_left_out() -> None:
    made = comparison(train=False, test=False)
    assert header(made)[2:] == ["dev F1", "best epoch", "seconds", "p"]
    assert all(len(cells(made, row)) == len(header(made)) for row in made.rows)


def test_the_note_says_which_cell_is_best() -> None:
    """With domains left out, a cell is compared only with those that are tested on the same domain."""
    assert "; best: the cell with the highest dev score; p: p-value of the difference from it on" in note(
        comparison()
    )
    grid = read_grid(["ner"], ["train.lr=0.1,0.2", "data.leave_out=web,news"])
    rows = [
        ComparisonRow(grid.name(cell), cell.values, ("c",), (1,), (scores(dev, None, 0.5, 9),))
        for cell, dev in zip(grid.cells, (0.9, 0.5, 0.4, 0.7), strict=True)
    ]
    made = Comparison.from_rows(grid.axes, rows)
    assert [row.best for row in made.rows] == [True, False, False, True]
    assert "highest dev score of those that leave out the same domain; p: p-value of" in note(made)


def test_gold_spans_that_tokens_cannot_express_are_a_column_if_there_are_any() -> None:
    grid = read_grid(["ner"], ["data.unit=eojeol,syllable"])
    found = [scores(0.5, None, 0.4, 2, 1234), scores(0.6, None, 0.5, 9)]
    rows = [
        ComparisonRow(grid.name(cell), cell.values, ("c",), (1,), (each,))
        for cell, each in zip(grid.cells, found, strict=True)
    ]
    made = Comparison.from_rows(grid.axes, rows)
    assert header(made)[1:4] == ["dev F1", "test", "unreachable"]
    assert [cells(made, row)[3] for row in made.rows] == ["1,234", "0"]
    assert "unreachable: gold spans of the test data that do not match the tokens" in note(made)
    assert made.to_json()["cells"][0]["unreachable"] == {"mean": 1234, "sd": None}
    page = ComparedRecipes(Path("c"), made)._repr_html_()
    assert ">unreachable<" in page
    assert ">1,234<" in page
    assert ">unreachable<" not in ComparedRecipes(Path("c"), comparison())._repr_html_()
    assert "unreachable" not in note(comparison())


def with_costs(*costs: RunCost | None) -> Comparison:
    """Return a comparison of two cells, with the costs of two runs each."""
    grid = read_grid(["ner"], ["train.lr=0.1,0.2"])
    found = [replace(scores(0.5, None, None, 2), cost=cost) for cost in costs]
    rows = [
        ComparisonRow(grid.name(cell), cell.values, ("a", "b"), (1, 2), tuple(found[2 * at : 2 * at + 2]))
        for at, cell in enumerate(grid.cells)
    ]
    return Comparison.from_rows(grid.axes, rows)


ON_CPU = RunCost(wall_seconds=4.0, cpu_seconds=6.0, peak_memory_bytes=2_000_000)
ON_GPU = RunCost(cpu_seconds=1.0, gpu_seconds=3.0, peak_gpu_memory_bytes=500, cpu_joules=2.0, gpu_joules=9.0)


def test_the_cost_is_the_mean_over_seeds() -> None:
    made = with_costs(ON_CPU, replace(ON_CPU, cpu_seconds=8.0), ON_CPU, ON_CPU)
    assert header(made)[-3:] == ["seconds", "CPU seconds", "p"]
    assert [cells(made, row)[-2] for row in made.rows] == ["7.0", "6.0"]
    assert made.to_json()["cells"][1]["cost"]["cpu_seconds"] == {"mean": 6.0, "sd": 0.0}
    assert made.to_json()["cells"][0]["runs"][1]["cost"]["cpu_seconds"] == 8.0
    row = next(csv.DictReader(io.StringIO(tsv(made)), delimiter="\t"))
    assert (row["cpu_seconds"], row["peak_memory_bytes"], row["cpu_joules"]) == ("7.0", "2000000.0", "")
    lines = markdown(made).splitlines()
    assert "| lr | wall_seconds | cpu_seconds | peak_memory_bytes |" in " ".join(lines).replace(
        " preparing_seconds | training_seconds | scoring_seconds | finishing_seconds |", ""
    )
    shown = ComparedRecipes(Path("c"), made)
    assert ">CPU seconds<" in shown._repr_html_()
    assert shown.rows[0]["cpu_seconds"] == 7.0
    assert "cpu_joules" not in shown.rows[0]


def test_a_gpu_has_its_own_column_and_energy() -> None:
    made = with_costs(ON_GPU, ON_GPU, ON_CPU, ON_CPU)
    assert header(made)[-4:] == ["seconds", "CPU seconds", "GPU seconds", "p"]
    assert [cells(made, row)[-2] for row in made.rows] == ["3.0", "0.0"]
    found = [cell["cost"] for cell in made.to_json()["cells"]]
    assert found[0]["energy_joules"] == {"cpu": {"mean": 2.0, "sd": 0.0}, "gpu": {"mean": 9.0, "sd": 0.0}}
    assert found[1]["energy_joules"] == {"cpu": None, "gpu": None}
    assert "gpu_joules" in markdown(made)


def test_a_cost_that_is_unknown_for_one_run_is_unknown_for_the_cell() -> None:
    """The mean of the other runs would be of other work."""
    made = with_costs(ON_GPU, replace(ON_GPU, gpu_joules=None), ON_CPU, None)
    first, second = made.rows
    assert first.cost["gpu_joules"] is None
    assert first.cost["gpu_seconds"] is not None
    assert set(second.cost.values()) == {None}, "a result of an older version has no cost"
    assert cells(made, second)[-3:-1] == ["–", "–"]


def test_every_line_of_markdown_has_the_same_number_of_fields() -> None:
    """An unescaped bar or line break in a value would break the table."""
    lines = markdown(comparison()).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 6
    assert {line.replace("\\|", "").count("|") for line in table} == {9}
    assert "- c/2-2: the loss became nan" in lines
    assert note(comparison()) in lines


def test_a_spreadsheet_reads_back_every_number() -> None:
    made = comparison(direct='[],"tab\there"')
    rows = list(csv.DictReader(io.StringIO(tsv(made)), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [row["train.lr"] for row in rows] == ["0.1", "0.1", "0.2", "0.2"]
    assert rows[1]["model.head.direct"] == '"tab here"'
    assert [float(rows[0][key]) for key in ("dev", "test", "best_epoch")] == [0.55, 0.4, 3.0]
    assert float(rows[0]["p"]) == made.rows[0].p
    assert [row["best"] for row in rows] == ["0", "1", "0", "0"]
    assert [row["failed"] for row in rows] == ["0", "0", "1", "2"]
    assert rows[3]["dev"] == rows[3]["p"] == ""


def test_every_failure_is_one_line() -> None:
    assert failures(comparison()) == ["c/2-2: the loss became nan", "c/3-1: x", "c/3-2: y"]
