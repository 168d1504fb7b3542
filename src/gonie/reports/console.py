"""A console that prints in the language of the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.columns import Columns
from rich.console import Console, OverflowMethod
from rich.rule import Rule
from rich.status import Status
from rich.table import Table
from rich.text import Text

from gonie.messages import language, say

FOLD: OverflowMethod = "fold"
"""How lines in cells are wrapped. An ellipsis, Rich's default, also cuts wide letters that fit."""

PIPED_WIDTH = 1000
"""The columns of a console that is no terminal: so many that no row of a table is wrapped."""
RULE_WIDTH = 80
"""The most columns of a line across such a console."""


class FoldedTable(Table):
    """A table that cuts nothing off."""

    def add_row(self, *cells: Any, **settings: Any) -> None:
        """Add a row."""
        super().add_row(*cells, **settings)
        for column in self.columns:
            column.overflow = FOLD


class FoldedColumns(Columns):
    """Texts beside each other, of which nothing is cut off."""

    def __init__(self, shown: Iterable[Any] = (), **settings: Any) -> None:
        super().__init__(shown, **settings)
        for each in self.renderables:
            if isinstance(each, Text):
                each.overflow = FOLD


class MessageConsole(Console):
    """Translates lines, and the headings and captions of tables.

    Cells, headings that are a ``Text``, and text of several styles are data. Without a terminal and a given
    width (also by the variable COLUMNS), lines are not wrapped.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self._width is None and not self.is_terminal:
            self.width = PIPED_WIDTH

    def print(self, *shown: Any, **settings: Any) -> None:
        """Print lines, texts and tables."""
        super().print(*(shown if language() == "en" else map(_translated, shown)), **settings)

    def rule(self, title: Any = "", **settings: Any) -> None:
        """Print a line across the console with a title."""
        line = Rule(say(title) if isinstance(title, str) else title, **settings)
        self.print(line, width=None if self.is_terminal else RULE_WIDTH)

    def status(self, status: Any, **settings: Any) -> Status:
        """Show what is being done while the block runs."""
        return super().status(say(status) if isinstance(status, str) else status, **settings)


def _translated(shown: Any) -> Any:
    """Return something to print in the language of the user."""
    if isinstance(shown, str):
        return say(shown)
    if isinstance(shown, Text) and not shown.spans:
        return Text(say(shown.plain), style=shown.style, justify=shown.justify, overflow=shown.overflow)
    if isinstance(shown, Table):
        for column in shown.columns:
            column.header = _translated(column.header) if isinstance(column.header, str) else column.header
            column.overflow = FOLD
        shown.title, shown.caption = _translated(shown.title), _translated(shown.caption)
    return shown
