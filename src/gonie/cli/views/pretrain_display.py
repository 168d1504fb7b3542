"""How a pretraining looks on the screen: live on a terminal, as plain lines elsewhere."""

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

from gonie.cli.views.training_display import QUIET_SECONDS, clock

if TYPE_CHECKING:
    from gonie.features.lm_text import TokenisingProgress
    from gonie.training.loop import Step
    from gonie.training.pretrain_loop import PretrainEpoch
    from gonie.training.pretrain_run import PretrainingResult, PretrainSummary


class Pace:
    """How fast something goes since it began, and how long it will take."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.amount = 0

    def add(self, amount: int) -> None:
        """So much more is done."""
        self.amount += amount

    @property
    def speed(self) -> float:
        """What is done in a second."""
        return self.amount / max(time.monotonic() - self.began, 1e-6)

    def left(self, share: float) -> str:
        """Time to the end, of which ``share`` is done."""
        spent = time.monotonic() - self.began
        return clock(spent * (1 - share) / share) if share > 0 else "?"


class PretrainScreen:
    """Shows tokenising, then training, each with its speed and the time that is left."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=False, highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[speed]}  left {task.fields[left]}"),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._spoke = time.monotonic()
        self._pace = Pace()
        self._summary: PretrainSummary | None = None
        self._first = 0.0  # epochs that were done before this went on

    def __enter__(self) -> PretrainScreen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_bar()

    def note(self, text: str) -> None:
        """A line about what was found or is being done."""
        self._stop_bar()
        self._console.print(f"[dim]{escape(text)}[/dim]")

    def advance(self, advance: TokenisingProgress) -> None:
        """How far the text is tokenised."""
        self._pace.amount = advance.words
        share = advance.read / max(advance.total, 1)
        self._move(f"tokenising {escape(advance.file.name)}", share, f"{self._pace.speed:,.0f} words/s")

    def begin(self, summary: PretrainSummary) -> None:
        """The table of what is about to be trained."""
        self._stop_bar()
        self._summary = summary
        table = Table.grid(padding=(0, 2))
        table.add_row("text", f"{summary.words:,} words, {summary.heldout:,} held out")
        table.add_row(
            "predicts",
            f"{summary.vocabulary:,} words; {100 * summary.unknown:.1f}% of held-out words are none of them",
        )
        table.add_row(
            "model",
            f"{summary.parameters:,} parameters, and {summary.softmax_parameters:,} of the softmax, "
            f"on {summary.device}",
        )
        table.add_row("steps", f"{summary.batches:,} an epoch, {summary.epochs} epochs")
        table.add_row("folder", escape(str(summary.folder)))
        self._console.print(table)
        if summary.complete:
            self._console.print("training is complete; the model is written again")
        elif summary.first_epoch > 1:
            self._console.print(f"going on in epoch {summary.first_epoch}")
        self._pace, self._spoke = Pace(), time.monotonic()
        self._first = summary.first_epoch - 1.0

    def step(self, step: Step) -> None:
        """Move the bar; without a terminal, say a line now and then."""
        assert self._summary is not None
        if not self._pace.amount:
            self._first = step.epoch - 1 + (step.batch - 1) / step.batches
        self._pace.add(step.tokens)
        done = step.epoch - 1 + step.batch / step.batches - self._first
        share = done / (self._summary.epochs - self._first)
        self._move(
            f"epoch {step.epoch}/{self._summary.epochs}",
            share,
            f"{self._pace.speed:,.0f} words/s",
        )

    def epoch(self, epoch: PretrainEpoch) -> None:
        """A line with the epoch's figures."""
        star = " [green]best[/green]" if epoch.improved else ""
        ahead, back = epoch.perplexity
        self._console.print(
            f"epoch {epoch.epoch:>3}  loss {epoch.loss:7.4f}  held-out perplexity {ahead:,.2f} onward, "
            f"{back:,.2f} backward  {epoch.words / max(epoch.seconds, 1e-6):,.0f} words/s  "
            f"{clock(epoch.seconds + epoch.scoring_seconds)}{star}"
        )

    def interrupted(self, folder: Path) -> None:
        """Where it stands and how to go on."""
        self._stop_bar()
        recipe, out = shlex.quote(str(folder / "recipe.toml")), shlex.quote(str(folder))
        self._console.print("stopped; where it stands is saved. Go on with:")
        self._console.print(f"  gonie pretrain {recipe} --out {out} --resume", markup=False)

    def finished(self, result: PretrainingResult) -> None:
        """The perplexity, the files and the next commands."""
        self._stop_bar()
        ahead, back = result.perplexity
        self._console.print(
            f"held-out perplexity [bold]{ahead:,.2f}[/bold] onward, [bold]{back:,.2f}[/bold] backward, over "
            f"all {result.vocabulary:,} words (epoch {result.best_epoch})"
        )
        folder = shlex.quote(str(result.folder))
        for line in (
            "of sentences each on its own, as they are used: "
            f"{result.alone.ahead:,.2f} onward, {result.alone.back:,.2f} backward",
            f"{result.size / 1e6:.1f} MB without its softmax, {clock(result.seconds)} in all",
            f"try:  gonie train {_recipe(result)} --set model.elmo.bilm={folder}",
            f'      gonie embed {folder} "your text" --out vectors.npz',
        ):
            self._console.print(line, markup=False)

    def _move(self, what: str, share: float, speed: str) -> None:
        left = self._pace.left(share)
        if self._console.is_terminal:
            if self._task is None:
                self._task = self._bar.add_task(what, total=1.0, speed=speed, left=left)
                self._bar.start()
            self._bar.update(self._task, description=what, completed=share, speed=speed, left=left)
        elif time.monotonic() - self._spoke > QUIET_SECONDS:
            self._console.print(f"{what}: {share:.0%} of all, {speed}, left {left}")
            self._spoke = time.monotonic()

    def _stop_bar(self) -> None:
        if self._task is not None:
            self._bar.stop()
            self._bar.remove_task(self._task)
            self._task = None


def _recipe(result: PretrainingResult) -> str:
    """A shipped recipe whose text is cut into the words that the model knows."""
    return "ner" if result.language == "en" else f"ner-ko --set data.unit={result.unit}"
