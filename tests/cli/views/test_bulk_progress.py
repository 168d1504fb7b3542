"""What is said of a bulk run at its end: rows, parts, speed, and whatever a user should look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.bulk.run import BulkOutcome, Extent
from gonie.bulk.worker import Done
from gonie.cli.views.bulk_progress import BulkProgress


def test_the_end_is_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with BulkProgress(Path("out")) as progress:
        progress.cutting(0, 1)
        progress.begin(Extent(parts=5, there=3, size=100))
        for number in (3, 4):
            progress.done(Done(shard=number, rows=600, tokens=5000, bad=1, noted=1, size=50))
        progress.finished(BulkOutcome(parts=5, rows=3000, bad=7))
    first, speed, notes, bad = capsys.readouterr().err.splitlines()
    assert first == "out: 3,000 rows in 5 parts, 3 of them from before"
    assert speed.startswith("10,000 tokens in ")
    assert notes == "note: 2 rows with notes, such as of long sentences"
    assert bad == "note: 7 bad rows set aside, with the reason, in _bad-*.jsonl"


def test_who_stops_is_told_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    with BulkProgress(Path("out")) as progress:
        progress.begin(Extent(parts=5, there=1, size=100))
        progress.stopped(2)
    assert (
        capsys.readouterr().err == "stopped with 2 of 5 parts in out, each whole. The same command goes on\n"
    )
