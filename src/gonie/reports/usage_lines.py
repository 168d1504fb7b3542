"""What the answers of a model cost, on the terminal."""

from __future__ import annotations

from typing import Protocol

from rich.console import Console


class HasLines(Protocol):
    """Something that is shown as lines."""

    def lines(self, *, failed: str) -> list[str]:
        """Return the lines. ``failed`` says what happens to texts without an answer."""
        ...


def print_usage(console: Console, usage: HasLines, *, failed: str = "scored as empty") -> None:
    """Print the lines below the scores, warnings in yellow."""
    for line in usage.lines(failed=failed):
        style = "yellow" if line.startswith("warning:") else "dim"
        console.print(line, style=style, markup=False)
