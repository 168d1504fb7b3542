"""How a comparison looks: a bar for the whole and one a running cell, then the table and what it says."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from gonie.cli.views.training_display import QUIET_SECONDS, clock

if TYPE_CHECKING:
    from gonie.experiments.cell import Advanced, Event
    from gonie.experiments.comparison import Comparison
    from gonie.experiments.outcome import Outcome
    from gonie.experiments.plan import ComparisonPlan, PlannedRun

WIDE = 240  # off a terminal lines are as long as they are


class CompareDisplay:
    """Shows a comparison on a console: live on a terminal, as a line a finished run elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        if not self._console.is_terminal:
            self._console.width = max(self._console.width, WIDE)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[told]}", markup=False),
            console=self._console,
            transient=True,
        )
        self._whole: TaskID | None = None
        self._running: dict[Path, TaskID] = {}
        self._shares: dict[Path, float] = {}  # how much of each run in the middle is done
        self._names: dict[str, str] = {}
        self._notes: set[str] = set()
        self._total = self._done = self._done_here = 0
        self._began = self._spoke = time.monotonic()

    def __enter__(self) -> CompareDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_bars()  # however it ends, the terminal gets its cursor back

    def begin(self, plan: ComparisonPlan, *, done: int, jobs: int) -> None:
        """What is compared, then the bars."""
        grid = plan.grid
        self._names = {run.folder: _run_name(grid.name(grid.cells[run.cell]), run) for run in plan.runs}
        self._total, self._done = len(plan.runs), done
        seeds = "1 seed" if plan.asked.seeds == 1 else f"{plan.asked.seeds} seeds"
        folds = f" on {plan.asked.folds} folds" if plan.asked.folds else ""
        many = f"{len(grid.cells):,} cells, {seeds}{folds} each, {jobs} at a time"
        self._console.print(f"{many}; {done:,} of {self._total:,} runs are done already" if done else many)
        self._began = self._spoke = time.monotonic()
        if self._console.is_terminal:
            self._whole = self._progress.add_task("", total=self._total, told="")
            self._progress.start()
            self._show_whole()

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        """Move a bar, or say a line."""
        from gonie.experiments.cell import Advanced, Began, Note

        match event:
            case Note(text):
                self._note(text)
            case Began(folder):
                if self._whole is not None:
                    self._running[folder] = self._progress.add_task(self._name(folder), total=1.0, told="")
            case Advanced():
                self._advance(event)
            case _ if outcome is not None:
                self._end(event.folder, outcome)

    def tested(self, number: int, rows: int) -> None:
        """Move the bar of the tests that come last."""
        if self._whole is not None:
            told = "testing the differences"
            self._progress.update(self._whole, description=told, total=rows, completed=number, told="")

    def interrupted(self, folder: Path) -> None:
        """How far it is, and how to resume it."""
        self._stop_bars()
        done = f"{self._done:,} of {self._total:,} runs"
        self._console.print(f"Stopped with {done} done; progress saved. Resume with:")
        self._console.print(f"  gonie compare --out {shlex.quote(str(folder))} --resume", markup=False)

    def finished(self, comparison: Comparison, folder: Path) -> None:
        """The table, what it says, and where the files are."""
        from gonie.experiments.tables import failures, note

        self._stop_bars()
        self._console.print(_table(comparison))
        self._console.print(Text(note(comparison), style="dim"))
        for line in failures(comparison):
            self._console.print(Text(f"failed: {line}", style="red"))
        for line in comparison.reading():
            self._console.print(line, markup=False)
        files = ", ".join(str(folder / name) for name in ("table.md", "table.tsv", "results.json"))
        self._console.print(f"figure: {folder / 'curves.png'} and .svg; table: {files}", markup=False)
        if comparison.best is not None:
            recipe = shlex.quote(str(folder / comparison.best.folders[0] / "recipe.toml"))
            self._console.print(f"try:  gonie train {recipe}", markup=False)

    def _note(self, text: str) -> None:
        """A line about what was found; workers that read the same files say it once."""
        if text not in self._notes:
            self._notes.add(text)
            self._console.print(f"[dim]{escape(text)}[/dim]")

    def _advance(self, event: Advanced) -> None:
        at = f"epoch {event.epoch}/{event.epochs}"
        at += "" if event.score is None else f"  dev {100 * event.score:.2f}"
        self._shares[event.folder] = share = (event.epoch - 1 + event.share) / event.epochs
        if self._whole is not None:
            self._progress.update(self._running[event.folder], completed=share, told=at)
            self._show_whole()
        elif time.monotonic() - self._spoke > QUIET_SECONDS:
            self._say(f"{self._name(event.folder)}: {at}")

    def _end(self, folder: Path, outcome: Outcome) -> None:
        """A line a run; on a terminal only of those that failed, the bars tell the rest."""
        from gonie.experiments.outcome import Failure

        self._done += 1
        self._done_here += 1
        self._shares.pop(folder, None)
        place = f"{self._done:>{len(str(self._total))}}/{self._total}  {self._name(folder)}:"
        if self._whole is not None:
            self._progress.remove_task(self._running.pop(folder))
            self._show_whole()
        if isinstance(outcome, Failure):
            self._say(f"{place} failed: {outcome.error}")
        elif self._whole is None:
            scores = {"dev": outcome.dev, "train": outcome.train, "test": outcome.test}
            told = ", ".join(f"{name} {100 * s:.2f}" for name, s in scores.items() if s is not None)
            spent = f"best epoch {outcome.best_epoch}, {clock(outcome.seconds)}"
            self._say(f"{place} {told}, {spent}; ETA {self._left()}")

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False)
        self._spoke = time.monotonic()

    def _show_whole(self) -> None:
        if self._whole is not None:
            told = f"ETA {self._left()}"
            self._progress.update(
                self._whole, description=f"{self._done}/{self._total} runs", completed=self._done, told=told
            )

    def _left(self) -> str:
        """The time to the end, should the rest take as long as what was done here."""
        begun = sum(self._shares.values())
        if not self._done_here + begun:
            return "?"
        each = (time.monotonic() - self._began) / (self._done_here + begun)
        return clock(each * (self._total - self._done - begun))

    def _name(self, folder: Path) -> str:
        return self._names.get(folder.name, folder.name)

    def _stop_bars(self) -> None:
        if self._whole is not None:
            self._progress.stop()
            self._whole = None


def _run_name(cell: str, run: PlannedRun) -> str:
    fold = f"fold={run.fold}" if run.fold else ""
    return " ".join(part for part in (cell, f"seed={run.seed}", fold) if part)


def _table(comparison: Comparison) -> Table:
    from gonie.experiments.tables import cells, header

    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(header(comparison)):
        side: Literal["left", "right"] = "left" if at < len(comparison.axes) else "right"
        table.add_column(Text(name), justify=side, overflow="fold")
    for row in comparison.rows:
        table.add_row(*map(Text, cells(comparison, row)), style="bold green" if row.best else None)
    return table
