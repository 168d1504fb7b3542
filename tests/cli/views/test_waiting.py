"""Waiting: silent where it is short or nobody looks, a line that goes away where someone waits."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from rich.console import Console

from gonie.cli.views import waiting
from gonie.cli.views.waiting import Waiting


def test_nothing_is_shown_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with Waiting("measuring", 3) as each:
        each.done(3)
    assert capsys.readouterr() == ("", "")


Within = Callable[[float], AbstractContextManager[None]]


def test_a_terminal_sees_what_is_done_and_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, within: Within
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(
        waiting, "Console", lambda **_: Console(file=screen, force_terminal=True, width=60, highlight=False)
    )
    with within(30), Waiting("measuring [b]", 3) as each:
        each.done(2)
        while "2/3" not in screen.getvalue():
            time.sleep(0.01)
    assert "measuring [b]" in screen.getvalue()


def test_what_is_done_may_change_and_count_without_an_end(
    monkeypatch: pytest.MonkeyPatch, within: Within
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(
        waiting, "Console", lambda **_: Console(file=screen, force_terminal=True, width=60, highlight=False)
    )
    with within(30), Waiting("embedding") as each:
        each.say("1,234 sentences")
        while "1,234 sentences" not in screen.getvalue():
            time.sleep(0.01)
    assert "embedding" in screen.getvalue()
