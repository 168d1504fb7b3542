"""The display of a gradient check: what is compared, a progress bar, and one line per parameter block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.reports.console import MessageConsole
from gonie.tasks.torch.compiled_loops import must_compile
from gonie.tasks.torch.synthetic import SyntheticModel
from gonie.training.fit import COMPILING
from gonie.training.gradient_check import SINGLE_TOLERANCE, BlockCheck, kinked_parts, step_for

COLUMNS = ("block", "shape", "compared", "‖a - n‖", "relative", "float32", "")


class GradientTable:
    """Shows one check on a console. a is the gradient by autograd, n the one by central differences."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or MessageConsole(highlight=False, soft_wrap=True)
        self._blocks = 0

    def begin(self, instance: SyntheticModel[Any, Any], epsilon: float | None) -> None:
        """Print what is compared, and the step of the differences."""
        model = instance.model
        trained = {name: p.requires_grad for name, p in model.named_parameters()}
        self._blocks = sum(trained.values())
        self._print(
            f"small model with the recipe's parts: {sum(p.numel() for p in model.parameters()):,} "
            f"parameters, {_described(instance)}"
        )
        step, reason = _step(instance, epsilon)
        self._print(f"central differences in float64, ε = {step:g} ({reason})")
        fixed = [name for name, learns in trained.items() if not learns]
        if fixed:
            self._print(f"not trained, so not checked: {', '.join(fixed)}")
        if must_compile(model):
            self._print(COMPILING)

    def watch(self, checks: Iterator[BlockCheck]) -> list[BlockCheck]:
        """Run all checks, with a progress bar on a terminal."""
        bar = Progress(console=self._console, transient=True, disable=not self._console.is_terminal)
        with bar:
            return list(bar.track(checks, total=self._blocks, description=say("blocks")))

    def end(self, found: list[BlockCheck], tolerance: float) -> None:
        """Print the table and the verdict."""
        self._console.print(_grid(found))
        wrong = [check.name for check in found if not check.passed]
        if wrong:
            self._print(f"{len(wrong)} of {len(found)} parameter blocks fail: {', '.join(wrong)}", "bold red")
        else:
            self._print(
                f"all {len(found)} parameter blocks pass: ‖a - n‖ within {tolerance:g}, float32 within "
                f"{SINGLE_TOLERANCE:g} of float64",
                "green",
            )

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style))


def _described(instance: SyntheticModel[Any, Any]) -> str:
    """Return the number of labels and the size of the synthetic text."""
    batch, labels = instance.batch, len(instance.encoding.labels)
    sentences, tokens = len(batch["mask"]), int(batch["mask"].sum())
    if "places" in batch:
        texts = len(batch["places"])
        return f"{labels} labels; {texts} synthetic texts: {sentences} sentences, {tokens} tokens"
    return f"{labels} tags; synthetic text: {sentences} sentences, {tokens} tokens"


def _step(instance: SyntheticModel[Any, Any], epsilon: float | None) -> tuple[float, str]:
    """Return the step of the differences and its reason."""
    if epsilon is not None:
        return epsilon, "--epsilon"
    kinks = kinked_parts(instance.model)
    reason = f"small because of kinks in {', '.join(kinks)}" if kinks else "all parts are smooth"
    return step_for(instance.model), reason


def _grid(found: list[BlockCheck]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    grid.add_column(COLUMNS[0], overflow="fold")
    for name in COLUMNS[1:]:
        grid.add_column(name, justify="right" if name else "left", no_wrap=True)
    for check in found:
        numbers = (f"{number:.1e}" for number in (check.difference, check.relative, check.single))
        shape, share = "×".join(map(str, check.shape)), say(f"{check.compared:,} of {check.size:,}")
        grid.add_row(Text(check.name), shape, share, *numbers, _verdict(check))
    return grid


def _verdict(check: BlockCheck) -> Text:
    if check.difference == check.single == 0.0:
        return Text(say("0 everywhere"), "yellow")  # no token of the text uses it
    if check.passed:
        return Text(say("ok"), "green")
    return Text(say("float32 fails" if check.right else "fails"), "bold red")
