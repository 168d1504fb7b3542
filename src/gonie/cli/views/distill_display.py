"""The display of a distillation: the answers of the teacher, the training of the student, and a table."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.cli.views.training_display import TrainingDisplay
from gonie.messages import say
from gonie.reports.usage_lines import print_usage
from gonie.tasks.run_files import TEACHER
from gonie.tasks.teacher import INDEX

if TYPE_CHECKING:
    from gonie.experiments.distilled import ComparedModels, ModelFigures
    from gonie.tasks.bundled import ModelUsage

FAILED = "not learned, or scored as empty"
"""What happens to texts without an answer: unlabelled ones, or held-out ones."""
COLUMNS = ("", "tokens/s", "ms", "MB")


class DistillDisplay(TrainingDisplay):
    """Shows a distillation on a console. ``folder`` is its run folder."""

    def __init__(self, folder: Path, console: Console | None = None) -> None:
        super().__init__(console)
        self._folder = folder

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def stopped_answering(self) -> None:
        """Print how to go on with the answers, if there are any."""
        if (self._folder / TEACHER / INDEX).is_file():
            self.interrupted(self._folder)
            return
        self._stop_bar()
        self._console.print("Stopped before the first answer; nothing is saved.")

    def interrupted(self, folder: Path) -> None:
        """Print how to resume the distillation: the same command again."""
        self._stop_bar()
        self._console.print("Stopped; progress saved. Resume with:")
        self._console.print(f"  {_again(sys.argv[1:], folder)}", markup=False)

    def compared(self, models: ComparedModels) -> None:
        """Print the table of teacher and student."""
        metric = models.models[0].metric.replace("f1", "F1")
        table = Table(box=None, pad_edge=False, header_style="dim")
        names = (COLUMNS[0], f"{models.split} {metric}", *COLUMNS[1:])
        for name in names:
            table.add_column(say(name), justify="right" if name else "left", no_wrap=True)
        for model in models.models:
            table.add_row(*map(Text, _cells(model)))
        self._console.print(table)

    def used(self, usage: ModelUsage | None) -> None:
        """Print what the answers of an in-context teacher cost."""
        if usage is not None:
            print_usage(self._console, usage, failed=FAILED)


def _cells(model: ModelFigures) -> list[str]:
    size = "" if model.megabytes is None else f"{model.megabytes:,.1f}"
    speed = f"{model.tokens_per_second:,.0f}"
    return [say(model.name), f"{100 * model.score:.2f}", speed, f"{model.milliseconds:.2f}", size]


def _again(arguments: list[str], folder: Path) -> str:
    """Return the command that resumes a distillation, from the arguments that started it."""
    given = any(each == "--out" or each.startswith("--out=") for each in arguments)
    out = [] if given else ["--out", str(folder)]
    resume = [] if "--resume" in arguments else ["--resume"]
    return shlex.join(["gonie", *arguments, *out, *resume])
