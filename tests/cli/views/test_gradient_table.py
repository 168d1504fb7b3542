"""Tests the table of a gradient check: numbers are never truncated, and every verdict is shown."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from gonie.cli.views.gradient_table import GradientTable
from gonie.reports.console import MessageConsole
from gonie.training.gradient_check import BlockCheck

LONG = "embedding.parts.1.encoder.ahead.lstm.weight_ih_l0.and.more"


def block(name: str = LONG, **values: object) -> BlockCheck:
    usual = {
        "shape": (12, 34),
        "compared": 100,
        "difference": 2e-9,
        "relative": 3e-9,
        "right": True,
        "single": 4e-7,
    }
    return BlockCheck(name=name, **(usual | values))  # type: ignore[arg-type]


def shown(*checks: BlockCheck, width: int | None = None) -> str:
    screen = io.StringIO()
    console: Console = MessageConsole(
        file=screen, width=width, force_terminal=width is not None, no_color=True
    )
    GradientTable(console).end(list(checks), 1e-7)
    return screen.getvalue()


@pytest.mark.parametrize("width", [60, 80, None])
def test_numbers_are_never_truncated_on_a_terminal_or_in_a_pipe(width: int | None) -> None:
    text = shown(block(), width=width)
    for words in ("12×34", "100 of 408", "2.0e-09", "3.0e-09", "4.0e-07", "ok"):
        assert words in text, words
    assert (LONG in text) == (width is None)
    assert "…" not in text


def test_each_verdict_is_shown() -> None:
    text = shown(
        block("a"),
        block("b", right=False),
        block("c", single=0.1),
        block("d", difference=0.0, relative=0.0, single=0.0),
    )
    rows = {line.split()[0]: " ".join(line.split()) for line in text.splitlines()}
    assert rows["a"].endswith("4.0e-07 ok")
    assert rows["b"].endswith("4.0e-07 fails")
    assert rows["c"].endswith("1.0e-01 float32 fails")
    assert rows["d"].endswith("0.0e+00 0 everywhere")
    assert "2 of 4 parameter blocks fail: b, c" in text
    assert "all 1 parameter blocks pass" in shown(block("a"))


def test_watch_returns_the_checks_unchanged() -> None:
    checks = [block("a"), block("b")]
    assert GradientTable(Console(file=io.StringIO())).watch(iter(checks)) == checks
