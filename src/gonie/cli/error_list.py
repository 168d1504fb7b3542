"""The errors of an evaluation on the terminal, and in the file that `gonie evaluate --errors` names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.cli.stream_output import safe
from gonie.data.files import atomic_write
from gonie.data.report import count
from gonie.metrics.error_files import E, Write
from gonie.metrics.errors import Error

SHOWN = 10
NEAR = 24  # characters to each side of an error that the terminal shows


def write_errors(path: Path, errors: Sequence[E], write: Write[E]) -> None:
    """Write the list, whole or not at all; a file's name that is no UTF-8 is escaped in it."""
    atomic_write(path, "".join(write(errors)).encode("utf-8", "backslashreplace"))


def print_errors(console: Console, errors: Sequence[Error], path: Path) -> None:
    """Print the surest errors and where the others are; texts are shown as they are, never as markup."""
    if not errors:
        console.print(Text(f"No errors; {path} holds none.", style="dim"))
        return
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("sure", "error", "gold", "predicted"):
        grid.add_column(name, no_wrap=name in ("sure", "error"))
    grid.add_column("in context", overflow="fold")
    for error in errors[:SHOWN]:
        grid.add_row(f"{error.confidence:.3f}", error.kind.value, *map(Text, _sides(error)), _context(error))
    console.print(grid)
    told = count(len(errors), "error")
    left = f"The {SHOWN} surest of {told}" if len(errors) > SHOWN else told
    console.print(Text(f"{left}; all of them, the surest first: {path}", style="dim"))


def _sides(error: Error) -> tuple[str, str]:
    """The labels; where the spans are not the same, with what each covers."""
    one, other = error.gold, error.predicted
    if error.gold_text == error.predicted_text or one is None or other is None:
        return safe(one if one is not None else "–"), safe(other if other is not None else "–")
    return safe(f"{one}: {error.gold_text}"), safe(f"{other}: {error.predicted_text}")


def _context(error: Error) -> Text:
    before, after = safe(error.before), safe(error.after)
    return Text.assemble(
        ("…" if len(before) > NEAR else "") + before[-NEAR:],
        ("[", "dim"),
        (safe(error.text), "bold red"),
        ("]", "dim"),
        after[:NEAR] + ("…" if len(after) > NEAR else ""),
    )
