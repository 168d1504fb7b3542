"""Tests the display of a comparison, on a terminal and elsewhere."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from gonie.cli.views import compare_display as module
from gonie.cli.views.compare_display import CompareDisplay
from gonie.experiments.cell import Advanced, Began, Ended, Note
from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.outcome import CellScores, Failure, Outcome, Point
from gonie.experiments.plan import ComparisonPlan, ComparisonRequest, PlannedRun
from gonie.metrics.significance import Tally

SCORES = CellScores(
    "F1", 0.5, 0.75, 0.4, 3, 65.0, (Point(1, 0.5, 0.75),), Tally("d", np.ones((2, 3), np.int64))
)
OUTCOMES: tuple[Outcome, ...] = (SCORES, Failure("the loss became nan"))


def plan() -> ComparisonPlan:
    asked = ComparisonRequest(("ner",), ("train.lr=0.1,0.2", "data.train=[b]x.conll"), 1)
    return ComparisonPlan(
        asked, False, (PlannedRun("1_lr=0.1_seed=1", 0, 1), PlannedRun("2_lr=0.2_seed=1", 1, 1))
    )


def comparison() -> Comparison:
    grid = plan().grid
    rows = [
        ComparisonRow(grid.name(cell), cell.values, (f"cells/{run.folder}",), (1,), (outcome,))
        for cell, run, outcome in zip(grid.cells, plan().runs, OUTCOMES, strict=True)
    ]
    return Comparison.from_rows(grid.axes, rows)


def shown(terminal: bool, width: int = 100) -> tuple[CompareDisplay, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, highlight=False, soft_wrap=True)
    return CompareDisplay(console), file


def plain(file: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())


def play(display: CompareDisplay, folder: Path) -> None:
    first, second = (folder / "cells" / run.folder for run in plan().runs)
    display.event(Note("train.conll\n  12 sentences [sic]"))
    display.begin(plan(), done=0, jobs=2)
    display.event(Note("train.conll\n  12 sentences [sic]"))
    display.event(Began(first))
    display.event(Began(second))
    display.event(Advanced(first, 2, 10, 0.5, 0.25))
    display._progress.refresh()
    display.event(Ended(second), OUTCOMES[1])
    display.event(Ended(first), OUTCOMES[0])
    display.tested(1, 2)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_comparison_is_displayed_from_start_to_end(terminal: bool) -> None:
    display, file = shown(terminal)
    with display:
        play(display, Path("c"))
        display.finished(comparison(), Path("c"))
    text = plain(file)
    for words in (
        "2 cells, 1 seed each, 2 in parallel",
        "1/2  lr=0.2 seed=1: failed: the loss became nan",
        "lr   dev F1  train   test  best epoch  seconds       p",
        "0.1   50.00  75.00  40.00           3     65.0    best",
        "failed: cells/2_lr=0.2_seed=1: the loss became nan",
        "best with lr=0.1: dev F1 50.00, train - dev 25.00",
        "figure: c/curves.png and .svg; table: c/table.md, c/table.tsv, c/results.json",
        "Try:  gonie train c/cells/1_lr=0.1_seed=1/recipe.toml",
    ):
        assert words in text, words
    assert text.count("12 sentences [sic]") == 1, "a note of every worker is printed once"
    line = "2/2  lr=0.1 seed=1: dev 50.00, train 75.00, test 40.00, best epoch 3, 1 min 05 s; ETA 0 s"
    assert (line in text) != terminal, "on a terminal the bars show it"
    assert ("epoch 2/10  dev 25.00" in text) == terminal


def test_off_a_terminal_a_long_cell_prints_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", -1.0)
    display, file = shown(False)
    with display:
        play(display, Path("c"))
    assert "lr=0.1 seed=1: epoch 2/10  dev 25.00" in plain(file)


def test_stopping_prints_a_quoted_resume_command() -> None:
    display, file = shown(False)
    with display:
        display.begin(plan(), done=1, jobs=1)
        display.interrupted(Path("my runs/c"))
    text = plain(file)
    assert "1 of 2 runs already finished" in text
    assert "Stopped; 1 of 2 runs finished" in text
    assert "  gonie compare --out 'my runs/c' --resume\n" in text


def test_the_cursor_is_shown_again_at_the_end() -> None:
    display, file = shown(True)
    with display:
        display.begin(plan(), done=0, jobs=1)
    hidden, back = "\x1b[?25l", "\x1b[?25h"
    assert file.getvalue().rindex(back) > file.getvalue().rindex(hidden)


def test_no_command_is_suggested_if_all_runs_failed() -> None:
    grid = plan().grid
    rows = [ComparisonRow(grid.name(cell), cell.values, ("f",), (1,), (Failure("x"),)) for cell in grid.cells]
    display, file = shown(False)
    with display:
        display.finished(Comparison.from_rows(grid.axes, rows), Path("c"))
    assert "all runs failed" in plain(file)
    assert "Try:" not in plain(file)
