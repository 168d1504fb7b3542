"""What someone who waits is told, on standard error, once it takes longer than a moment."""

from __future__ import annotations

from threading import Timer
from types import TracebackType

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PATIENCE = 2.0  # seconds before anything is shown


class Waiting:
    """A line that says what is being done and how far it is, on a terminal, gone when it is done."""

    def __init__(self, doing: str, total: int | None = None) -> None:
        self._console = Console(stderr=True, highlight=False)
        counted = () if total is None else (MofNCompleteColumn(),)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *counted,
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(doing, total=total)
        self._timer = Timer(PATIENCE, self._bar.start)
        self._timer.daemon = True

    def __enter__(self) -> Waiting:
        if self._console.is_terminal:
            self._timer.start()
        return self

    def done(self, number: int) -> None:
        """So much is done by now."""
        self._bar.update(self._task, completed=number)

    def say(self, doing: str) -> None:
        """What is being done by now."""
        self._bar.update(self._task, description=doing)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._bar.live.is_started:
            self._bar.stop()
