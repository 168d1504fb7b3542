"""What the answers of a model cost, on the terminal."""

from __future__ import annotations

from typing import Protocol

from rich.console import Console


class HasLines(Protocol):
    """Something that is shown as lines."""

    def lines(self) -> list[str]:
        """Return the lines."""
        ...


def print_usage(console: Console, usage: HasLines) -> None:
    """Print the lines below the scores, warnings in yellow."""
    for line in usage.lines():
        style = "yellow" if line.startswith("warning:") else "dim"
        console.print(line, style=style, markup=False)
