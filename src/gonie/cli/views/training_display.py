"""The display of a training run: notes, a progress bar, a line per epoch, and commands to try next."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.reports.console import MessageConsole
from gonie.reports.cost import cost_line
from gonie.reports.group_grid import print_domains
from gonie.text.report import clock

if TYPE_CHECKING:
    from gonie.features.lm_text import TokenisingProgress
    from gonie.system.cost import RunCost
    from gonie.training.loop import Epoch, Step
    from gonie.training.run import RunResult, Summary

QUIET_SECONDS = 10.0  # between two progress lines if the output is not a terminal
SETTLED_SECONDS = 3.0  # of work before its speed says how long the rest takes
UNKNOWN = "?"  # in place of an ETA


class TrainingDisplay:
    """Shows a run on a console: live on a terminal, otherwise as plain lines.

    ``command`` is the command that resumes the run. Without ``closing``, the scores and the commands to try
    next are not printed.
    """

    def __init__(
        self, console: Console | None = None, *, command: str = "train", closing: bool = True
    ) -> None:
        self._console = console or MessageConsole(stderr=False, highlight=False, soft_wrap=True)
        self._command = command
        self._closing = closing
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn(
                f"{{task.percentage:>3.0f}}%  {{task.fields[speed]}}  {say('ETA')} {{task.fields[eta]}}"
            ),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._epochs = 0  # in total
        self._first: tuple[float, float] | None = None  # epochs done after its first step, when
        self._done: list[Epoch] = []
        self._answered: tuple[int, float] | None = None  # answers of a teacher at the beginning, when
        self._epoch_tokens = 0
        self._began = self._epoch_began = self._printed = time.monotonic()

    def __enter__(self) -> TrainingDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_bar()  # restores the cursor of the terminal

    def note(self, text: str) -> None:
        """Print a note."""
        self._stop_bar()
        self._console.print(Text(text, style="dim"))

    def advance(self, advance: TokenisingProgress) -> None:
        """Show the progress of tokenising."""
        spent = max(time.monotonic() - self._began, 1e-6)
        share = advance.read / max(advance.total, 1)
        eta = clock(spent * (1 - share) / share) if share and spent > SETTLED_SECONDS else UNKNOWN
        self._move(f"tokenising {advance.file.name}", share, f"{advance.words / spent:,.0f} words/s", eta)

    def answered(self, done: int, total: int) -> None:
        """Show how many examples the teacher has answered."""
        now = time.monotonic()
        if self._answered is None:
            self._answered = (done, now)
            if done:
                self.note(f"the teacher has answered {done:,} of {total:,} unlabelled examples before")
        before, began = self._answered
        spent, new = max(now - began, 1e-6), done - before
        eta = clock(spent / new * (total - done)) if new else UNKNOWN
        self._move("teacher", done / max(total, 1), f"{new / spent:,.0f} examples/s", eta)
        if done == total:
            self.note(f"the teacher has answered {total:,} unlabelled examples")

    def begin(self, summary: Summary) -> None:
        """Print a summary of the data and the model."""
        self._stop_bar()
        self._epochs, self._first, self._done = summary.epochs, None, []
        table = Table.grid(padding=(0, 2))
        for name, value in (*summary.rows, ("memory", _memory()), ("folder", str(summary.folder))):
            table.add_row(escape(say(name)), escape(say(value)))
        self._console.print(table)
        if summary.complete:
            self._console.print("training is complete; writing the results again")
        elif summary.first_epoch > 1:
            self._console.print(f"resuming at epoch {summary.first_epoch}")
        self._begin_epoch()

    def step(self, step: Step) -> None:
        """Update the bar, or print a line now and then if there is no terminal."""
        share = step.batch / step.batches
        self._epoch_tokens += step.tokens
        spent = max(time.monotonic() - self._epoch_began, 1e-6)
        speed = f"{self._epoch_tokens / spent:,.0f} tokens/s"
        self._move(f"epoch {step.epoch}/{self._epochs}", share, speed, self._eta(step.epoch - 1 + share))

    def epoch(self, epoch: Epoch) -> None:
        """Print a line with the loss, scores and speed of an epoch."""
        self._done.append(epoch)
        speed = epoch.tokens / max(epoch.seconds, 1e-6)
        star = f" [green]{say('best')}[/green]" if epoch.improved else ""
        train = "" if epoch.train_score is None else f"  train {100 * epoch.train_score:6.2f}"
        self._console.print(
            f"epoch {epoch.epoch:>3}  loss {epoch.loss:8.4f}  {escape(epoch.shown)}{train}"
            f"  {speed:,.0f} tokens/s  {clock(epoch.seconds + epoch.dev_seconds)}"
            f"  ETA {self._eta(epoch.epoch)}{star}"
        )
        self._begin_epoch()

    def interrupted(self, folder: Path) -> None:
        """Print how to resume the run."""
        self._stop_bar()
        recipe, out = shlex.quote(str(folder / "recipe.toml")), shlex.quote(str(folder))
        self._console.print("Stopped; progress saved. Resume with:")
        self._console.print(f"  gonie {self._command} {recipe} --out {out} --resume", markup=False)

    def finished(self, result: RunResult) -> None:
        """Print the scores, the files and the commands to try next."""
        self._stop_bar()
        if not self._closing:
            return
        for name, value in result.output.results:
            self._console.print(f"{escape(say(name))} [bold]{escape(say(value))}[/bold]")
        for split, found in result.output.domains.items():
            print_domains(self._console, found.scores, split=split)
        for name, line in result.baselines.items():
            self._console.print(f"  compared with {name}: {line}", markup=False)
        self._console.print(f"best epoch {result.best_epoch}, {clock(result.seconds)} in total")
        self._console.print(f"{say('cost')}: {_spent(result.cost)}", markup=False)
        if result.variants_cost is not None:
            self._console.print(
                f"{say('cost of the variants')}: {_spent(result.variants_cost)}", markup=False
            )
        heading = say("Try: ")
        for number, command in enumerate(result.output.commands):
            before = " " * cell_len(heading) if number else heading
            self._console.print(f"{before} {say(command)}", markup=False)

    def _eta(self, done: float) -> str:
        """Format the remaining time after ``done`` epochs, estimated from the epochs of this session.

        The first epoch is estimated from its steps, once they say something. The first step does not: it also
        warms up.
        """
        if self._done:
            each = sum(epoch.seconds + epoch.dev_seconds for epoch in self._done) / len(self._done)
        else:
            now = time.monotonic()
            before, began = self._first = self._first or (done, now)
            if now - began < SETTLED_SECONDS or done <= before:
                return UNKNOWN
            each = (now - began) / (done - before)
        return clock(each * max(self._epochs - done, 0.0))

    def _begin_epoch(self) -> None:
        self._epoch_tokens = 0
        self._epoch_began = self._printed = time.monotonic()

    def _move(self, step: str, share: float, speed: str, eta: str) -> None:
        """Show a finished share."""
        if self._console.is_terminal:
            if self._task is None:
                self._task = self._progress.add_task("", total=1.0, speed=say(speed), eta=say(eta))
                self._progress.start()
            self._progress.update(
                self._task, description=escape(say(step)), completed=share, speed=say(speed), eta=say(eta)
            )
        elif (now := time.monotonic()) - self._printed > QUIET_SECONDS:
            self._console.print(f"{step}: {share:.0%}, {speed}, ETA {eta}", markup=False)
            self._printed = now

    def _stop_bar(self) -> None:
        if self._task is not None:
            self._progress.stop()
            self._progress.remove_task(self._task)
            self._task = None


def _spent(cost: RunCost) -> str:
    return ", ".join(map(say, cost_line(cost)))


def _memory() -> str:
    import psutil

    used = psutil.Process().memory_info().rss
    free = psutil.virtual_memory().available
    return f"{used / 2**20:,.0f} MiB used, {free / 2**30:,.1f} GiB free"
