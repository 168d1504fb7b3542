"""How far a command has come with its texts, on standard error, once it takes longer than a moment."""

from __future__ import annotations

import sys
from threading import Timer
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PATIENCE = 2.0  # seconds before anything is shown


class StreamProgress:
    """A line with counts when standard error is a terminal that standard output is not already filling."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.completed:,} texts, {task.fields[tokens]:,} tokens"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,  # results go where the user sent them
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=None, tokens=0)
        self._tokens = 0
        self._timer = Timer(PATIENCE, self._bar.start)
        self._timer.daemon = True

    def __enter__(self) -> StreamProgress:
        if self._console.is_terminal and not sys.stdout.isatty():
            self._timer.start()
        return self

    def advance(self, tokens: int) -> None:
        """Count a text whose result was written."""
        self._tokens += tokens
        self._bar.update(self._task, advance=1, tokens=self._tokens)

    def note(self, *notes: str) -> None:
        """Say something on standard error, whatever it is."""
        for note in notes:
            self._console.print(f"note: {note}", markup=False, soft_wrap=True)

    def stop(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        if self._bar.live.is_started:
            self._bar.stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
