"""How a training run looks: what was found, a moving bar, a line an epoch, and what to type next."""

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
    from gonie.training.loop import Epoch, Step
    from gonie.training.run import RunResult, Summary

SHOWN_LABELS = 12
QUIET_SECONDS = 10.0  # without a terminal, how long an epoch may last before a line says where it is


def clock(seconds: float) -> str:
    """``3s``, ``2m05s``, ``1h07m``."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole}s"
    return f"{whole // 60}m{whole % 60:02}s" if whole < 3600 else f"{whole // 3600}h{whole % 3600 // 60:02}m"


class TrainingDisplay:
    """Shows a run on a console: live on a terminal, as plain lines elsewhere."""

    def __init__(self, console: Console | None = None, *, closing: bool = True) -> None:
        self._console = console or Console(stderr=False, highlight=False, soft_wrap=True)
        self._closing = closing  # whether to end with the scores and what to type next
        self._progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(bar_width=28),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[speed]}  left {task.fields[left]}"),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._summary: Summary | None = None
        self._done: list[Epoch] = []
        self._epoch_tokens = 0
        self._epoch_began = self._spoke = time.monotonic()

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

    def begin(self, summary: Summary) -> None:
        """The table of what is about to be trained, then the bar."""
        self._summary = summary
        table = Table.grid(padding=(0, 2))
        shown = list(summary.labels.items())[:SHOWN_LABELS]
        more = len(summary.labels) - len(shown)
        labels = "  ".join(f"{escape(label)} {times:,}" for label, times in shown) + (
            f"  and {more} more" if more else ""
        )
        table.add_row("train", f"{summary.examples:,} {summary.noun}, {summary.tokens:,} tokens")
        table.add_row("dev", f"{summary.dev_examples:,} {summary.noun}")
        table.add_row("labels", labels)
        table.add_row("model", f"{summary.parameters:,} parameters, on {summary.device}")
        table.add_row("memory", _memory())
        table.add_row("folder", escape(str(summary.folder)))
        self._console.print(table)
        if summary.complete:
            self._console.print("training is complete; the best model is exported and scored again")
        elif summary.first_epoch > 1:
            self._console.print(f"going on in epoch {summary.first_epoch}")
        self._start_bar()

    def step(self, step: Step) -> None:
        """Move the bar; without a terminal, say a line now and then."""
        self._epoch_tokens += step.tokens
        now = time.monotonic()
        share = step.batch / step.batches
        speed = f"{self._epoch_tokens / max(now - self._epoch_began, 1e-6):,.0f} tokens/s"
        if self._task is not None:
            left = clock(self._left(step.epoch, share, now))
            total = f"{step.epoch}/{self._summary.epochs if self._summary else '?'}"
            self._progress.update(self._task, completed=share, epoch=total, speed=speed, left=left)
        elif now - self._spoke > QUIET_SECONDS:
            self._console.print(f"epoch {step.epoch}: {share:.0%}, {speed}")
            self._spoke = now

    def epoch(self, epoch: Epoch) -> None:
        """A line with the epoch's figures."""
        self._done.append(epoch)
        assert self._summary is not None
        speed = epoch.tokens / max(epoch.seconds, 1e-6)
        star = " [green]best[/green]" if epoch.improved else ""
        now = time.monotonic()
        train = "" if epoch.train_score is None else f"  train {100 * epoch.train_score:6.2f}"
        self._console.print(
            f"epoch {epoch.epoch:>3}  loss {epoch.loss:8.4f}"
            f"  dev {self._summary.metric} {100 * epoch.score:6.2f}{train}"
            f"  {speed:,.0f} tokens/s  {clock(epoch.seconds + epoch.dev_seconds)}"
            f"  left at most {clock(self._left(epoch.epoch + 1, 0.0, now))}{star}"
        )
        self._epoch_tokens, self._epoch_began, self._spoke = 0, now, now

    def interrupted(self, folder: Path) -> None:
        """Where the run stands and how to go on."""
        self._stop_bar()
        recipe, out = shlex.quote(str(folder / "recipe.toml")), shlex.quote(str(folder))
        self._console.print("stopped; where it stands is saved. Go on with:")
        self._console.print(f"  gonie train {recipe} --out {out} --resume", markup=False)

    def finished(self, result: RunResult) -> None:
        """The scores, the files and the next commands."""
        self._stop_bar()
        if not self._closing:
            return
        for split, evaluation in result.evaluations.items():
            name, value = evaluation.headline
            interval = evaluation.interval(name)
            band = f"  (95% {100 * interval[0]:.2f} to {100 * interval[1]:.2f})" if interval else ""
            self._console.print(f"{split} {name.replace('f1', 'F1')} [bold]{100 * value:.2f}[/bold]{band}")
        for name, line in result.beside.items():
            self._console.print(f"  beside it, {name}: {line}", markup=False)
        report, folder = result.folder / "report.html", shlex.quote(str(result.folder))
        for line in (
            f"best epoch {result.best_epoch}, {clock(result.seconds)} in all; report: {report}",
            f'try:  gonie {result.task} {folder} "your text"',
            f"      gonie evaluate {folder} FILE",
        ):
            self._console.print(line, markup=False)

    def _left(self, epoch: int, share: float, now: float) -> float:
        """Seconds to the last epoch, should the patience last: from the epochs done, else from this one."""
        assert self._summary is not None
        if self._done:
            each = sum(e.seconds + e.dev_seconds for e in self._done) / len(self._done)
        else:
            each = (now - self._epoch_began) / max(share, 1e-6)
        return each * max(self._summary.epochs - epoch + 1 - share, 0.0)

    def _start_bar(self) -> None:
        self._epoch_began = self._spoke = time.monotonic()
        if self._console.is_terminal:
            self._task = self._progress.add_task("", total=1.0, epoch="1", speed="", left="?")
            self._progress.start()

    def _stop_bar(self) -> None:
        if self._task is not None:
            self._progress.stop()
            self._task = None


def _memory() -> str:
    import psutil

    used = psutil.Process().memory_info().rss
    free = psutil.virtual_memory().available
    return f"{used / 2**20:,.0f} MiB used, {free / 2**30:,.1f} GiB free"
