"""Tests the console of the command line without a terminal: tables and lines are not wrapped."""

from __future__ import annotations

import io

import pytest

from gonie.reports.console import RULE_WIDTH, MessageConsole
from gonie.reports.score_grid import score_grid

NAMES = [f"answers-{number}-AA4YiX5_ans-of-the-first-file-of-a-long-list" for number in (20080426140040, 7)]


def printed(**settings: object) -> str:
    """Return a table and a line as a console prints them."""
    console = MessageConsole(file=(out := io.StringIO()), **settings)
    grid = score_grid(("newdoc", "examples", "F1", "95% interval"))
    for name in NAMES:
        grid.add_row(name, "1,287", "20.27", "16.67-23.78")
    console.print(grid)
    console.print(" ".join(NAMES), markup=False)
    return out.getvalue()


def test_without_a_terminal_each_row_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that ``gonie evaluate --by newdoc | grep NAME`` finds the row."""
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed().splitlines()
    assert len(lines) == 1 + len(NAMES) + 1
    assert [name in line for name, line in zip(NAMES, lines[1:], strict=False)] == [True, True]
    assert lines[-1] == " ".join(NAMES)


def test_a_given_width_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    assert max(map(len, printed().splitlines())) <= 70
    assert max(map(len, printed(width=60).splitlines())) <= 60


def test_a_line_across_is_as_long_as_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    console = MessageConsole(file=(out := io.StringIO()))
    console.rule("Results")
    assert len(out.getvalue().rstrip("\n")) == RULE_WIDTH
