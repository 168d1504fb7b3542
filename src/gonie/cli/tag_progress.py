"""How far `gonie tag` has come, on standard error, once it takes longer than a moment."""

from __future__ import annotations

import sys
from threading import Timer
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gonie.data.types import Document

PATIENCE = 2.0  # seconds before anything is shown


class TagProgress:
    """A line with counts when standard error is a terminal that standard output is not already filling.

    Notes of documents go to standard error in any case, and their number at the end.
    """

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
        self._task = self._bar.add_task("tag", total=None, tokens=0)
        self._tokens = self._noted = 0
        self._timer = Timer(PATIENCE, self._bar.start)
        self._timer.daemon = True

    def __enter__(self) -> TagProgress:
        if self._console.is_terminal and not sys.stdout.isatty():
            self._timer.start()
        return self

    def advance(self, document: Document) -> None:
        """Count a document that was written, and say what it notes."""
        self._tokens += len(document.tokens)
        self._bar.update(self._task, advance=1, tokens=self._tokens)
        for note in document.notes:
            self._noted += 1
            self._console.print(f"note: {note}", markup=False, soft_wrap=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._bar.live.is_started:
            self._bar.stop()
        if self._noted > 1:
            self._console.print(
                f"note: {self._noted:,} sentences were scored in overlapping windows", soft_wrap=True
            )
