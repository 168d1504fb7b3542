"""Explanations on the terminal: the legend, the faithfulness scores and the parts that all tasks share.

The views of texts and tagged sentences are in the folders of their tasks.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.reports.console import MessageConsole
from gonie.reports.explanation import Faithfulness, LayerShares, Method, TokenWeights
from gonie.reports.explanations import layer_shares
from gonie.reports.explanations.heat import Rows, about
from gonie.reports.explanations.heat_text import heat_text, key_text
from gonie.reports.explanations.verdict import DIGITS, PROBABILITY, is_control, measured_on, standing, verdict
from gonie.reports.terminal import one_line, safe

BAR = 30
"""The length of the bar of a probability of 1."""
PIPED_WIDTH = 160  # columns if the output is not a terminal


class Screen(MessageConsole):
    """A console that raises BrokenPipeError. Rich would exit the program instead."""

    def on_broken_pipe(self) -> None:
        """Raise the error again. Rich calls this after catching it."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class ExplanationScreen:
    """Shows explanations on a console, with colours or, if there are none, with numbers."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Screen(highlight=False)
        if console is None and not self._console.is_terminal:
            self._console.width = PIPED_WIDTH
        self.colours = self._console.color_system is not None and not self._console.no_color

    @property
    def width(self) -> int:
        """The number of columns."""
        return self._console.width

    @property
    def is_terminal(self) -> bool:
        """Whether the explanations are shown on a terminal, and not written to a file or pipe."""
        return self._console.is_terminal

    def legend(self, methods: Sequence[Method]) -> None:
        """Print what the colours mean, if there are any."""
        if self.colours:
            self.print(key_text(shares="attention" in methods))

    def caveats(
        self,
        warning: str,
        faithfulness: Sequence[Faithfulness],
        *,
        noun: str,
        quantity: str = PROBABILITY,
        notes: Sequence[str] = (),
    ) -> None:
        """Print the warning, the faithfulness scores, the verdict and the notes.

        ``quantity`` is what removing words lowers.
        """
        self.print(Text(""))
        self.print(Text(warning, "yellow"))
        if faithfulness:
            self.print(_figures(faithfulness, noun))
        self.print(Text(verdict(faithfulness, noun=noun, quantity=quantity), "bold"))
        for note in notes:
            self.print(Text(safe(note), "dim"))

    def layers(self, found: Sequence[LayerShares]) -> None:
        """Print how the layers of the language model are mixed, at each place where they are used."""
        self.print(Text(""))
        for each in found:
            self.print(Text(safe(layer_shares.heading(each)), "bold"))
            self.print(bars((say(name), share) for name, share in layer_shares.lines(each)))
        self.print(Text(layer_shares.reading(found), "dim"))

    def wrote(self, page: Path) -> None:
        """Print the path of the HTML page."""
        self.print(Text(f"page: {safe(str(page))}", "dim"))

    def strip(self, rows: Rows, weights: TokenWeights) -> None:
        """Print the text with the weights of one method."""
        self.print(
            Text.assemble((say(weights.method), "bold"), (f", {say(one_line(about(weights)))}", "dim"))
        )
        self.print(heat_text(rows, weights, colours=self.colours))

    def print(self, shown: RenderableType) -> None:
        """Print something. Lines are wrapped on a terminal, but not in a file."""
        self._console.print(shown, soft_wrap=not self._console.is_terminal and isinstance(shown, Text))


def _figures(found: Sequence[Faithfulness], noun: str) -> Table:
    controls = [each for each in found if is_control(each)]
    grid = grid_of(("faithfulness", "comprehensiveness ↑", "sufficiency ↓", ""))
    for each in (*(each for each in found if not is_control(each)), *controls):
        numbers = (f"{number:z.{DIGITS}f}" for number in (each.comprehensiveness, each.sufficiency))
        style = "dim" if is_control(each) else ""
        grid.add_row(say(each.method), *numbers, say(standing(each, controls)), style=style)
    grid.caption = f"over {measured_on(found, noun)}"
    grid.caption_justify = "left"
    return grid


def bars(shares: Iterable[tuple[str, float]]) -> Table:
    """Return a table with one row per name: its number and a bar."""
    grid = Table(box=None, pad_edge=False, show_header=False)
    for name, share in shares:
        grid.add_row(Text(one_line(name)), f"{share:.4f}", Text("█" * round(BAR * share), "blue"))
    return grid


def grid_of(columns: Sequence[str | Text]) -> Table:
    """Return an empty table with left-aligned names and right-aligned numbers."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(columns):
        grid.add_column(name, justify="right" if at else "left", overflow="fold")
    return grid
