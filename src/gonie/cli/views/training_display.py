"""How a training run looks: what was found, a moving bar, a line per epoch, and what to type next."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

if TYPE_CHECKING:
    from gonie.features.lm_text import TokenisingProgress
    from gonie.training.loop import Epoch, Step
    from gonie.training.run import RunResult, Summary

QUIET_SECONDS = 10.0  # without a terminal, the time between two lines on progress


def clock(seconds: float) -> str:
    """``3 s``, ``2 min 05 s``, ``1 h 07 min``."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class TrainingDisplay:
    """Shows a run on a console: live on a terminal, as plain lines elsewhere.

    ``command`` is the one that resumes it. Without ``closing``, it does not end with the scores and the
    commands to try next.
    """

    def __init__(
        self, console: Console | None = None, *, command: str = "train", closing: bool = True
    ) -> None:
        self._console = console or Console(stderr=False, highlight=False, soft_wrap=True)
        self._command = command
        self._closing = closing
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[speed]}  ETA {task.fields[eta]}"),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._epochs = 0  # of the whole training
        self._first: float | None = None  # epochs that were done before this session
        self._done: list[Epoch] = []
        self._epoch_tokens = 0
        self._began = self._epoch_began = self._spoke = time.monotonic()

    def __enter__(self) -> TrainingDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_bar()  # however the run ends, the terminal gets its cursor back

    def note(self, text: str) -> None:
        """A line about what was found or is being done."""
        self._stop_bar()
        self._console.print(f"[dim]{escape(text)}[/dim]")

    def advance(self, advance: TokenisingProgress) -> None:
        """Show how far the text is tokenised."""
        spent = max(time.monotonic() - self._began, 1e-6)
        share = advance.read / max(advance.total, 1)
        left = clock(spent * (1 - share) / share) if share else "?"
        self._move(f"tokenising {advance.file.name}", share, f"{advance.words / spent:,.0f} words/s", left)

    def begin(self, summary: Summary) -> None:
        """The table of what is about to be trained."""
        self._stop_bar()
        self._epochs, self._first, self._done = summary.epochs, None, []
        table = Table.grid(padding=(0, 2))
        for name, value in (*summary.rows, ("memory", _memory()), ("folder", str(summary.folder))):
            table.add_row(escape(name), escape(value))
        self._console.print(table)
        if summary.complete:
            self._console.print("training is complete; writing its results again")
        elif summary.first_epoch > 1:
            self._console.print(f"resuming in epoch {summary.first_epoch}")
        self._begin_epoch()

    def step(self, step: Step) -> None:
        """Move the bar; without a terminal, print a line now and then."""
        share = step.batch / step.batches
        if self._first is None:
            self._first = step.epoch - 1 + (step.batch - 1) / step.batches
        self._epoch_tokens += step.tokens
        spent = max(time.monotonic() - self._epoch_began, 1e-6)
        speed = f"{self._epoch_tokens / spent:,.0f} tokens/s"
        eta = clock(self._left(step.epoch - 1 + share, spent))
        self._move(f"epoch {step.epoch}/{self._epochs}", share, speed, eta)

    def epoch(self, epoch: Epoch) -> None:
        """A line with the epoch's figures."""
        self._done.append(epoch)
        speed = epoch.tokens / max(epoch.seconds, 1e-6)
        star = " [green]best[/green]" if epoch.improved else ""
        train = "" if epoch.train_score is None else f"  train {100 * epoch.train_score:6.2f}"
        self._console.print(
            f"epoch {epoch.epoch:>3}  loss {epoch.loss:8.4f}  {escape(epoch.shown)}{train}"
            f"  {speed:,.0f} tokens/s  {clock(epoch.seconds + epoch.dev_seconds)}"
            f"  ETA {clock(self._left(epoch.epoch, 0.0))}{star}"
        )
        self._begin_epoch()

    def interrupted(self, folder: Path) -> None:
        """How to resume the run."""
        self._stop_bar()
        recipe, out = shlex.quote(str(folder / "recipe.toml")), shlex.quote(str(folder))
        self._console.print("Stopped; progress saved. Resume with:")
        self._console.print(f"  gonie {self._command} {recipe} --out {out} --resume", markup=False)

    def finished(self, result: RunResult) -> None:
        """The scores, the files and the commands to try next."""
        self._stop_bar()
        if not self._closing:
            return
        for name, value in result.output.results:
            self._console.print(f"{escape(name)} [bold]{escape(value)}[/bold]")
        for name, line in result.baselines.items():
            self._console.print(f"  compared with {name}: {line}", markup=False)
        self._console.print(f"best epoch {result.best_epoch}, {clock(result.seconds)} in total")
        for number, command in enumerate(result.output.commands):
            self._console.print(f"{'     ' if number else 'Try: '} {command}", markup=False)

    def _left(self, done: float, spent: float) -> float:
        """Seconds to the last of the epochs, of which ``done`` are done: by those of this session.

        In the first one it is estimated from the seconds that were ``spent`` in it.
        """
        if self._done:
            each = sum(epoch.seconds + epoch.dev_seconds for epoch in self._done) / len(self._done)
        else:
            each = spent / max(done - (self._first or 0.0), 1e-6)
        return each * max(self._epochs - done, 0.0)

    def _begin_epoch(self) -> None:
        self._epoch_tokens = 0
        self._epoch_began = self._spoke = time.monotonic()

    def _move(self, what: str, share: float, speed: str, eta: str) -> None:
        """Show how much of something is done."""
        if self._console.is_terminal:
            if self._task is None:
                self._task = self._progress.add_task("", total=1.0, speed=speed, eta=eta)
                self._progress.start()
            self._progress.update(self._task, description=escape(what), completed=share, speed=speed, eta=eta)
        elif (now := time.monotonic()) - self._spoke > QUIET_SECONDS:
            self._console.print(f"{what}: {share:.0%}, {speed}, ETA {eta}", markup=False)
            self._spoke = now

    def _stop_bar(self) -> None:
        if self._task is not None:
            self._progress.stop()
            self._progress.remove_task(self._task)
            self._task = None


def _memory() -> str:
    import psutil

    used = psutil.Process().memory_info().rss
    free = psutil.virtual_memory().available
    return f"{used / 2**20:,.0f} MiB used, {free / 2**30:,.1f} GiB free"
