"""Tests progress bars, which appear only on a terminal, and the summary of a bulk run."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from rich.console import Console

from gonie.bulk.run import BulkOutcome, Extent
from gonie.bulk.worker import ShardResult
from gonie.cli.views import progress
from gonie.cli.views.progress import BulkProgress, StepProgress

Within = Callable[[float], AbstractContextManager[None]]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what a terminal shows, with progress bars that appear without a delay."""
    shown = io.StringIO()
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(
        progress,
        "MessageConsole",
        lambda **_: Console(file=shown, force_terminal=True, width=60, highlight=False),
    )
    return shown


def test_nothing_is_shown_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with StepProgress("measuring", 3) as each:
        each.update(3)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_the_step_and_the_count(screen: io.StringIO, within: Within) -> None:
    with within(30), StepProgress("measuring [b]", 3) as each:
        each.update(2)
        while "2/3" not in screen.getvalue():
            time.sleep(0.01)
    assert "measuring [b]" in screen.getvalue()


def test_the_description_changes_without_a_total(screen: io.StringIO, within: Within) -> None:
    with within(30), StepProgress("embedding") as each:
        each.describe("1,234 sentences")
        while "1,234 sentences" not in screen.getvalue():
            time.sleep(0.01)
    assert "embedding" in screen.getvalue()


def test_a_bulk_run_ends_with_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    with BulkProgress(Path("out")) as bulk:
        bulk.cutting(0, 1)
        bulk.begin(Extent(parts=5, finished=3, size=100))
        for number in (3, 4):
            bulk.done(ShardResult(shard=number, rows=600, tokens=5000, bad=1, noted=1, size=50))
        bulk.finished(BulkOutcome(parts=5, rows=3000, bad=7))
    first, speed, notes, bad = capsys.readouterr().err.splitlines()
    assert first == "out: 3,000 rows in 5 parts (3 from an earlier run)"
    assert speed.startswith("10,000 tokens in ")
    assert notes == "note: 2 rows with notes, for example about long sentences"
    assert bad == "note: 7 invalid rows skipped; _bad-*.jsonl has the reasons"


def test_a_stopped_bulk_run_prints_how_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    with BulkProgress(Path("out")) as bulk:
        bulk.begin(Extent(parts=5, finished=1, size=100))
        bulk.stopped(2)
    message = "Stopped; 2 of 5 parts finished in out. Run the same command again to resume.\n"
    assert capsys.readouterr().err == message
