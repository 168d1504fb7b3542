"""A console that prints in the language of the user."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from gonie.messages import language, say


class MessageConsole(Console):
    """Translates lines, and the headings and captions of tables.

    Cells, headings that are a ``Text``, and text of several styles are data.
    """

    def print(self, *shown: Any, **settings: Any) -> None:
        """Print lines, texts and tables."""
        super().print(*(shown if language() == "en" else map(_translated, shown)), **settings)

    def rule(self, title: Any = "", **settings: Any) -> None:
        """Print a line across the console with a title."""
        super().rule(say(title) if isinstance(title, str) else title, **settings)

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
        shown.title, shown.caption = _translated(shown.title), _translated(shown.caption)
    return shown
