"""How far a bulk run is, on standard error, and one line at its end."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Timer
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gonie.bulk.run import BulkOutcome, Extent
from gonie.bulk.worker import Done
from gonie.text.report import count

PATIENCE = 2.0  # seconds before anything is shown


class BulkProgress:
    """A bar on a terminal: rows, tokens, their speed, and the time that is left by the bytes of text."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("looking at the files", total=None)
        self._timer = Timer(PATIENCE, self._bar.start)
        self._timer.daemon = True
        self._extent = Extent(parts=0, there=0, size=0)
        self._parts = self._rows = self._tokens = self._noted = 0
        self._began = time.monotonic()

    def __enter__(self) -> BulkProgress:
        if self._console.is_terminal:
            self._timer.start()
        return self

    def cutting(self, done: int, files: int) -> None:
        """So many of the files have been looked at."""
        self._bar.update(self._task, completed=done, total=files)

    def begin(self, extent: Extent) -> None:
        """How much there is to do."""
        self._extent = extent
        self._began = time.monotonic()
        self._bar.reset(self._task, total=extent.size, description="loading the model")

    def done(self, done: Done) -> None:
        """A part is written."""
        self._parts += 1
        self._rows += done.rows
        self._tokens += done.tokens
        self._noted += done.noted
        told = f"{self._rows:,} rows, {self._tokens:,} tokens, {self._speed()}"
        self._bar.update(self._task, advance=done.size, description=told)

    def stopped(self, whole: int) -> None:
        """Say how to go on from so many parts."""
        self._close()
        self._say(
            f"stopped with {whole:,} of {count(self._extent.parts, 'part')} in {self._out}, each whole. "
            "The same command goes on"
        )

    def finished(self, outcome: BulkOutcome) -> None:
        """Say what came of it."""
        self._close()
        there = f", {self._extent.there:,} of them from before" if self._extent.there else ""
        self._say(f"{self._out}: {count(outcome.rows, 'row')} in {count(outcome.parts, 'part')}{there}")
        if self._parts:
            self._say(f"{self._tokens:,} tokens in {time.monotonic() - self._began:.1f} s, {self._speed()}")
        if self._noted:
            self._say(f"note: {count(self._noted, 'row')} with notes, such as of long sentences")
        if outcome.bad:
            self._say(f"note: {count(outcome.bad, 'bad row')} set aside, with the reason, in _bad-*.jsonl")

    def _speed(self) -> str:
        return f"{self._tokens / max(time.monotonic() - self._began, 1e-9):,.0f} tokens/s"

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def _close(self) -> None:
        self._timer.cancel()
        if self._bar.live.is_started:
            self._bar.stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
