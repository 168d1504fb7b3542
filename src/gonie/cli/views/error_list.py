"""The errors of an evaluation on the terminal, and in the file that `gonie evaluate --errors` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.metrics.class_errors import ClassError
from gonie.metrics.errors import Error, Kind
from gonie.reports.error_files import E, Write
from gonie.reports.terminal import one_line, safe
from gonie.system.files import atomic_write
from gonie.text.report import count

SHOWN = 10
NEAR = 24  # characters to each side of an error that the terminal shows
BEGINNING, END = 100, 60  # characters of a long text that it shows

Cells = tuple[Text, Text, Text]
"""What is gold, what was predicted, and where."""


class Sure(Protocol):
    """What errors of every kind have."""

    @property
    def confidence(self) -> float:
        """How sure the model was."""

    @property
    def kind(self) -> Kind:
        """What is wrong."""


S = TypeVar("S", bound=Sure)


def write_errors(path: Path, errors: Sequence[E], write: Write[E]) -> None:
    """Write the list, whole or not at all; a file's name that is no UTF-8 is escaped in it."""
    atomic_write(path, "".join(write(errors)).encode("utf-8", "backslashreplace"))


def print_errors(
    console: Console, errors: Sequence[S], path: Path, *, cells: Callable[[S], Cells], text: str = "text"
) -> None:
    """Print the surest errors and where the others are; texts are shown as they are, never as markup.

    ``cells`` are what is shown of one error beside its kind, ``text`` heads the last of them.
    """
    if not errors:
        console.print(Text(f"No errors; {path} holds none.", style="dim"))
        return
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("sure", "error", "gold", "predicted"):
        grid.add_column(name, no_wrap=name in ("sure", "error"))
    grid.add_column(text, overflow="fold")
    for error in errors[:SHOWN]:
        grid.add_row(f"{error.confidence:.3f}", error.kind.value, *cells(error))
    console.print(grid)
    told = count(len(errors), "error")
    left = f"The {SHOWN} surest of {told}" if len(errors) > SHOWN else told
    console.print(Text(f"{left}; all of them, the surest first: {path}", style="dim"))


def span_cells(error: Error) -> Cells:
    """The labels of a span; where the spans are not the same, with what each covers; and its context."""
    one, other = error.gold, error.predicted
    if error.gold_text != error.predicted_text and one is not None and other is not None:
        one, other = f"{one}: {error.gold_text}", f"{other}: {error.predicted_text}"
    return _label(one), _label(other), _context(error)


def text_cells(error: ClassError) -> Cells:
    """The labels of a text, and the text; of a long one its beginning and its end."""
    text = one_line(error.text)
    if len(text) > BEGINNING + END:
        text = f"{text[:BEGINNING]} … {text[-END:]}"
    return _label(error.gold), _label(error.predicted), Text(text)


def _label(label: str | None) -> Text:
    return Text(one_line(label if label is not None else "–"))


def _context(error: Error) -> Text:
    before, after = safe(error.before), safe(error.after)
    return Text.assemble(
        ("…" if len(before) > NEAR else "") + before[-NEAR:],
        ("[", "dim"),
        (safe(error.text), "bold red"),
        ("]", "dim"),
        after[:NEAR] + ("…" if len(after) > NEAR else ""),
    )
