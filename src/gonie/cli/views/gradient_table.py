"""A check of gradients on the terminal: what is compared and how, a bar meanwhile, a line a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from gonie.tasks.torch.compiled_loops import must_compile
from gonie.tasks.torch.synthetic import Specimen
from gonie.training.gradient_check import SINGLE_TOLERANCE, BlockCheck, kinked_parts, step_for

PIPED_WIDTH = 160  # where there is no terminal, a block keeps to one line
COLUMNS = ("block", "shape", "compared", "‖a - n‖", "relative", "float32", "")


class GradientTable:
    """Shows one check on a console; a and n are the gradients by autograd and by central differences."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        if not self._console.is_terminal:
            self._console.width = PIPED_WIDTH
        self._blocks = 0

    def begin(self, specimen: Specimen[Any, Any], epsilon: float | None) -> None:
        """What is about to be compared, and at which step and why."""
        model = specimen.model
        trained = {name: p.requires_grad for name, p in model.named_parameters()}
        self._blocks = sum(trained.values())
        self._say(
            f"a small model of the recipe's parts: {sum(p.numel() for p in model.parameters()):,} "
            f"parameters, {len(specimen.encoding.labels)} {_named(specimen)}"
        )
        self._say(f"central differences in float64, ε = {_step(specimen, epsilon)}")
        fixed = [name for name, learns in trained.items() if not learns]
        if fixed:
            self._say(f"not trained, so not checked: {', '.join(fixed)}")
        if must_compile(model):
            self._say("compiling the model's loops for this processor: some fifteen seconds, once")

    def watch(self, checks: Iterator[BlockCheck]) -> list[BlockCheck]:
        """All the checks, with a bar on a terminal while they are made."""
        bar = Progress(console=self._console, transient=True, disable=not self._console.is_terminal)
        with bar:
            return list(bar.track(checks, total=self._blocks, description="blocks"))

    def end(self, found: list[BlockCheck], tolerance: float) -> None:
        """The table and the verdict."""
        self._console.print(_grid(found))
        wrong = [check.name for check in found if not check.passed]
        if wrong:
            self._say(f"{len(wrong)} of {len(found)} blocks fail: {', '.join(wrong)}", "bold red")
        else:
            self._say(
                f"all {len(found)} blocks pass: ‖a - n‖ within {tolerance:g}, float32 within "
                f"{SINGLE_TOLERANCE:g} of float64",
                "green",
            )

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style))


def _named(specimen: Specimen[Any, Any]) -> str:
    """What the labels are called, and how much there is to learn them from."""
    batch = specimen.batch
    size = f"{len(batch['mask'])} sentences, {int(batch['mask'].sum())} tokens"
    if "places" in batch:
        return f"labels; {len(batch['places'])} made-up texts: {size}"
    return f"tags; a made-up text: {size}"


def _step(specimen: Specimen[Any, Any], epsilon: float | None) -> str:
    if epsilon is not None:
        return f"{epsilon:g}, as was asked"
    kinks = kinked_parts(specimen.model)
    reason = f"a small step, as {', '.join(kinks)} has kinks" if kinks else "as all parts are smooth"
    return f"{step_for(specimen.model):g}, {reason}"


def _grid(found: list[BlockCheck]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    grid.add_column(COLUMNS[0], overflow="fold")
    for name in COLUMNS[1:]:
        grid.add_column(name, justify="right" if name else "left", no_wrap=True)
    for check in found:
        numbers = (f"{number:.1e}" for number in (check.difference, check.relative, check.single))
        shape, share = "×".join(map(str, check.shape)), f"{check.compared:,} of {check.size:,}"
        grid.add_row(Text(check.name), shape, share, *numbers, _verdict(check))
    return grid


def _verdict(check: BlockCheck) -> Text:
    if check.difference == check.single == 0.0:
        return Text("0 everywhere", "yellow")  # nothing of the text reaches it
    if check.passed:
        return Text("ok", "green")
    return Text("fails" if not check.right else "float32 fails", "bold red")
