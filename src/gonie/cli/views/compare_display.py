"""The display of a comparison: a bar for the whole and one per running cell, then a table of results."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from gonie.cli.views.training_display import QUIET_SECONDS
from gonie.messages import say
from gonie.reports.console import MessageConsole
from gonie.text.report import clock, count

if TYPE_CHECKING:
    from gonie.experiments.cell import Advanced, Event
    from gonie.experiments.comparison import Comparison
    from gonie.experiments.outcome import Outcome
    from gonie.experiments.plan import ComparisonPlan, PlannedRun
    from gonie.experiments.sequence import SequenceComparison
    from gonie.reports.size_comparison import SizeComparison


class CompareDisplay:
    """Shows a comparison on a console: live on a terminal, otherwise as one line per finished run."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or MessageConsole(highlight=False, soft_wrap=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[status]}", markup=False),
            console=self._console,
            transient=True,
        )
        self._whole: TaskID | None = None
        self._running: dict[Path, TaskID] = {}
        self._shares: dict[Path, float] = {}  # the finished share of each running cell
        self._names: dict[str, str] = {}
        self._notes: set[str] = set()
        self._measured = ""
        self._total = self._done = self._done_here = 0
        self._began = self._printed = time.monotonic()

    def __enter__(self) -> CompareDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_bars()  # restores the cursor of the terminal

    def begin(self, plan: ComparisonPlan, *, done: int, jobs: int) -> None:
        """Print what is compared, and start the bars."""
        grid = plan.grid
        self._names = {run.folder: _run_name(grid.name(grid.cells[run.cell]), run) for run in plan.runs}
        self._total, self._done = len(plan.runs), done
        seeds = count(plan.request.seeds, "seed")
        folds = f" on {plan.request.folds} folds" if plan.request.folds else ""
        many = f"{count(len(grid.cells), 'cell')}, {seeds}{folds} each, {jobs} in parallel"
        self._console.print(f"{many}; {done:,} of {self._total:,} runs already finished" if done else many)
        self._began = self._printed = time.monotonic()
        if self._console.is_terminal:
            self._whole = self._progress.add_task("", total=self._total, status="")
            self._progress.start()
            self._show_whole()

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        """Update a bar, or print a line."""
        from gonie.experiments.cell import Advanced, Began, Note

        match event:
            case Note(text):
                self._note(text)
            case Began(folder):
                if self._whole is not None:
                    self._running[folder] = self._progress.add_task(self._name(folder), total=1.0, status="")
            case Advanced():
                self._advance(event)
            case _ if outcome is not None:
                self._end(event.folder, outcome)

    def tested(self, number: int, rows: int) -> None:
        """Show the progress of the significance tests."""
        if self._whole is not None:
            step = "testing significance"
            self._progress.update(self._whole, description=say(step), total=rows, completed=number, status="")

    def interrupted(self, folder: Path) -> None:
        """Print how many runs are finished and how to resume."""
        self._stop_bars()
        done = f"{self._done:,} of {self._total:,} runs"
        self._console.print(f"Stopped; {done} finished, progress saved. Resume with:")
        self._console.print(f"  gonie compare --out {shlex.quote(str(folder))} --resume", markup=False)

    def finished(self, comparison: Comparison, folder: Path) -> None:
        """Print the table, its summary and the files that were written."""
        from gonie.experiments.tables import failures, note

        self._stop_bars()
        self._console.print(_table(comparison))
        self._console.print(Text(note(comparison), style="dim"))
        for line in failures(comparison):
            self._console.print(Text(f"failed: {line}", style="red"))
        for line in comparison.summary():
            self._console.print(line, markup=False)
        files = ", ".join(str(folder / name) for name in ("table.md", "table.tsv", "results.json"))
        self._console.print(f"figure: {folder / 'curves.png'} and .svg; table: {files}", markup=False)
        if comparison.best is not None:
            recipe = shlex.quote(str(folder / comparison.best.folders[0] / "recipe.toml"))
            self._console.print(f"Try:  gonie train {recipe}", markup=False)

    def measuring(self, what: str, done: int, number: int) -> None:
        """Show how much is measured after training."""
        if self._whole is not None:
            status = f"{done}/{number}"
            self._progress.update(
                self._whole, description=say(what), total=number, completed=done, status=status
            )
        elif what != self._measured:
            self._print(what)
        self._measured = what

    def finished_sizes(self, found: SizeComparison, folder: Path) -> None:
        """Print the table of scores by training size, and which model is best from where on."""
        from gonie.reports.size_tables import size_cells, size_header, size_note
        from gonie.reports.size_verdict import verdict

        self._console.print()
        self._console.print(
            _plain_table(size_header(found), [size_cells(found, line) for line in found.lines], 1)
        )
        self._console.print(Text(size_note(found), style="dim"))
        self._console.print(Text(say(verdict(found)), style="bold"))
        self._console.print(
            f"page: {folder / 'sizes.html'}; chart: {folder / 'sizes.png'} and .svg", markup=False
        )

    def finished_sequence(self, comparison: SequenceComparison, folder: Path) -> None:
        """Print the matrix of each cell, the summaries and the files that were written."""
        from gonie.experiments import sequence_tables as tables

        self._stop_bars()
        for row in comparison.rows:
            if row.name:
                self._console.print(Text(row.name, style="bold"))
            self._console.print(_plain_table(tables.matrix_header(comparison), tables.matrix_rows(row), 1))
            for failure in row.failures:
                self._console.print(Text(f"failed: {failure.error}", style="red"))
        rows = [tables.summary_cells(row) for row in comparison.rows]
        self._console.print(_plain_table(tables.summary_header(comparison), rows, len(comparison.axes)))
        self._console.print(Text(tables.note(comparison), style="dim"))
        files = ", ".join(str(folder / name) for name in ("table.md", "table.tsv", "results.json"))
        self._console.print(f"table: {files}", markup=False)

    def _note(self, text: str) -> None:
        """Print a note, but only once if more than one worker sends it."""
        if text not in self._notes:
            self._notes.add(text)
            self._console.print(Text(text, style="dim"))

    def _advance(self, event: Advanced) -> None:
        score = "" if event.score is None else f"  dev {100 * event.score:.2f}"
        at = say(f"epoch {event.epoch}/{event.epochs}{score}")
        self._shares[event.folder] = share = (event.epoch - 1 + event.share) / event.epochs
        if self._whole is not None:
            self._progress.update(self._running[event.folder], completed=share, status=at)
            self._show_whole()
        elif time.monotonic() - self._printed > QUIET_SECONDS:
            self._print(f"{self._name(event.folder)}: {at}")

    def _end(self, folder: Path, outcome: Outcome) -> None:
        """Print a line for a finished run, but on a terminal only if it failed."""
        from gonie.experiments.outcome import Failure

        self._done += 1
        self._done_here += 1
        self._shares.pop(folder, None)
        place = f"{self._done:>{len(str(self._total))}}/{self._total}  {self._name(folder)}:"
        if self._whole is not None:
            self._progress.remove_task(self._running.pop(folder))
            self._show_whole()
        if isinstance(outcome, Failure):
            self._print(f"{place} failed: {outcome.error}")
        elif self._whole is None:
            scores = {"dev": outcome.dev, "train": outcome.train, "test": outcome.test}
            scored = ", ".join(f"{say(name)} {100 * s:.2f}" for name, s in scores.items() if s is not None)
            spent = clock(outcome.seconds)
            self._print(f"{place} {scored}, best epoch {outcome.best_epoch}, {spent}; ETA {self._eta()}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False)
        self._printed = time.monotonic()

    def _show_whole(self) -> None:
        if self._whole is not None:
            runs, eta = f"{self._done}/{self._total} runs", f"{say('ETA')} {say(self._eta())}"
            self._progress.update(self._whole, description=say(runs), completed=self._done, status=eta)

    def _eta(self) -> str:
        """Return the remaining time, estimated from the runs of this session."""
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
    ends = (f"fold={run.fold}" if run.fold else "", f"step={run.step}" if run.step else "")
    return " ".join(part for part in (cell, f"seed={run.seed}", *ends) if part)


def _plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Table:
    """Return a table with its first ``left`` columns aligned to the left."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(header):
        table.add_column(Text(say(name)), justify="left" if at < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _table(comparison: Comparison) -> Table:
    from gonie.experiments.tables import cells, header

    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(header(comparison)):
        side: Literal["left", "right"] = "left" if at < len(comparison.axes) else "right"
        shown = name if at < len(comparison.axes) else say(name)
        table.add_column(Text(shown), justify=side, overflow="fold")
    for row in comparison.rows:
        *values, standing = cells(comparison, row)
        table.add_row(*map(Text, (*values, say(standing))), style="bold green" if row.best else None)
    return table
