"""Progress on standard error, shown only if a command takes longer than a moment."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from gonie.messages import say
from gonie.reports.console import MessageConsole
from gonie.text.report import count

if TYPE_CHECKING:
    from gonie.bulk.run import BulkOutcome, Extent
    from gonie.bulk.worker import ShardResult

DELAY = 2.0
"""Seconds before anything is shown."""


class DelayedProgress:
    """A transient progress line on standard error that appears after ``DELAY`` seconds, if on a terminal."""

    def __init__(self, *columns: ProgressColumn) -> None:
        self._console = MessageConsole(stderr=True, highlight=False)
        self._progress = Progress(
            *columns,
            console=self._console,
            transient=True,
            redirect_stdout=False,  # results go where the user sent them
            redirect_stderr=False,
        )
        self._timer = Timer(DELAY, self._progress.start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        if self._progress.live.is_started:
            self._progress.stop()

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)


class StepProgress(DelayedProgress):
    """Shows the current step of a command, and how many of ``total`` items are done if that is given."""

    def __init__(self, step: str, total: int | None = None) -> None:
        counter = () if total is None else (MofNCompleteColumn(),)
        text = TextColumn("{task.description}", markup=False)
        super().__init__(SpinnerColumn(), text, *counter, TimeElapsedColumn())
        self._task = self._progress.add_task(say(step), total=total)

    def update(self, done: int) -> None:
        """Show that ``done`` items are done."""
        self._progress.update(self._task, completed=done)

    def describe(self, step: str) -> None:
        """Show another step."""
        self._progress.update(self._task, description=say(step))


class StreamProgress(DelayedProgress):
    """Counts texts and tokens, unless standard output is the same terminal and already shows the results."""

    def __init__(self) -> None:
        counts = TextColumn(f"{{task.completed:,}} {say('texts')}, {{task.fields[tokens]:,}} {say('tokens')}")
        super().__init__(SpinnerColumn(), counts, TimeElapsedColumn())
        self._task = self._progress.add_task("", total=None, tokens=0)
        self._tokens = 0

    def __enter__(self) -> Self:
        return self if sys.stdout.isatty() else super().__enter__()

    def advance(self, tokens: int) -> None:
        """Count a text whose result was written."""
        self._tokens += tokens
        self._progress.update(self._task, advance=1, tokens=self._tokens)

    def note(self, *notes: str) -> None:
        """Print notes, on a terminal or not."""
        for note in notes:
            self._print(f"note: {note}")


class BulkProgress(DelayedProgress):
    """Shows rows, tokens, speed and remaining time of a bulk run, and prints a summary at the end."""

    def __init__(self, out: Path) -> None:
        text = TextColumn("{task.description}", markup=False)
        super().__init__(
            text, BarColumn(bar_width=20), TimeElapsedColumn(), TextColumn(say("ETA")), TimeRemainingColumn()
        )
        self._out = out
        self._task = self._progress.add_task(say("scanning the files"), total=None)
        self._extent: Extent | None = None
        self._parts = self._rows = self._tokens = self._noted = 0
        self.renamed: Counter[str] = Counter()
        self._began = time.monotonic()

    def cutting(self, done: int, files: int) -> None:
        """Show that ``done`` of ``files`` files are cut into shards."""
        self._progress.update(self._task, completed=done, total=files)

    def begin(self, extent: Extent) -> None:
        """Start the bar over the work that remains."""
        self._extent = extent
        self._began = time.monotonic()
        self._progress.reset(self._task, total=extent.size, description=say("loading the model"))

    def done(self, done: ShardResult) -> None:
        """Count a part that was written."""
        self._parts += 1
        self._rows += done.rows
        self._tokens += done.tokens
        self._noted += done.noted
        self.renamed.update(done.renamed)
        counts = f"{self._rows:,} rows, {self._tokens:,} tokens, {self._speed()}"
        self._progress.update(self._task, advance=done.size, description=say(counts))

    def stopped(self, finished: int) -> None:
        """Print how many parts are finished and how to resume."""
        self.stop()
        total = 0 if self._extent is None else self._extent.parts
        self._print(
            f"Stopped; {finished:,} of {count(total, 'part')} finished in {self._out}. "
            "Run the same command again to resume."
        )

    def finished(self, outcome: BulkOutcome) -> None:
        """Print a summary."""
        self.stop()
        before = 0 if self._extent is None else self._extent.finished
        reused = f" ({before:,} from an earlier run)" if before else ""
        self._print(f"{self._out}: {count(outcome.rows, 'row')} in {count(outcome.parts, 'part')}{reused}")
        if self._parts:
            self._print(f"{self._tokens:,} tokens in {time.monotonic() - self._began:.1f} s, {self._speed()}")
        if self._noted:
            self._print(f"note: {count(self._noted, 'row')} with notes, for example about long sentences")
        if outcome.bad:
            self._print(f"note: {count(outcome.bad, 'invalid row')} skipped; _bad-*.jsonl has the reasons")

    def _speed(self) -> str:
        return f"{self._tokens / max(time.monotonic() - self._began, 1e-9):,.0f} tokens/s"
