"""The display of a training run in a notebook: one output that is updated in place."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gonie.reports.html.markup import Markup, element, fragment, row, table
from gonie.text.report import clock

if TYPE_CHECKING:
    from gonie.features.lm_text import TokenisingProgress
    from gonie.training.loop import Epoch, Step
    from gonie.training.run import RunResult, Summary

SECONDS = 0.5  # between two updates


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookDisplay:
    """Shows notes, a progress bar and a row per epoch."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._rows: list[Markup] = []
        self._about = Markup("")
        self._bar = Markup("")
        self._epochs = 0
        self._handle: Any = None
        self._updated = 0.0

    def __enter__(self) -> NotebookDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar = Markup("")
        self._show()

    def note(self, text: str) -> None:
        """Show a note."""
        self._notes.append(text)
        self._show()

    def advance(self, advance: TokenisingProgress) -> None:
        """Show the progress of tokenising."""
        self._move(f"tokenising {advance.file.name}", advance.read / max(advance.total, 1))

    def answered(self, done: int, total: int) -> None:
        """Show the progress of a teacher."""
        self._move("teacher", done / max(total, 1))

    def begin(self, summary: Summary) -> None:
        """Show the data and the model."""
        self._epochs, self._rows = summary.epochs, []
        lines = (f"{name}: {value}" for name, value in (*summary.rows, ("folder", str(summary.folder))))
        self._about = element("p", *(fragment(line, Markup("<br>")) for line in lines))
        self._show()

    def step(self, step: Step) -> None:
        """Move the bar."""
        self._move(f"epoch {step.epoch} of {self._epochs}", step.batch / step.batches)

    def epoch(self, epoch: Epoch) -> None:
        """Add the row of an epoch."""
        seconds = clock(epoch.seconds + epoch.dev_seconds)
        best = "best" if epoch.improved else ""
        self._rows.append(row(epoch.epoch, f"{epoch.loss:.4f}", epoch.shown, seconds, best))
        self._show()

    def interrupted(self, folder: Path) -> None:
        """Show nothing."""

    def finished(self, result: RunResult) -> None:
        """Show the scores."""
        self._notes += [f"{name} {value}" for name, value in result.output.results]

    def _move(self, what: str, share: float) -> None:
        if time.monotonic() - self._updated > SECONDS:
            self._bar = element("p", what, " ", element("progress", value=f"{share:.3f}", max="1"))
            self._show()

    def _show(self) -> None:
        ipython: Any = import_module("IPython.display")
        header = ("epoch", "loss", "dev", "time", "")
        rows = table(caption="Epochs", header=header, rows=self._rows) if self._rows else ""
        notes = element("p", *(fragment(note, Markup("<br>")) for note in self._notes))
        page = ipython.HTML(element("div", self._about, rows, self._bar, notes))
        if self._handle is None:
            self._handle = ipython.display(page, display_id=True)
        else:
            self._handle.update(page)
        self._updated = time.monotonic()
