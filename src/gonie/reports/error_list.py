"""Lists of errors: the surest on the terminal, all of them in a table to read or as JSON for a program.

A kind of error is a dataclass; its fields are the columns. So the errors of every task are listed by the same
few lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, asdict, fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.errors import OutputError
from gonie.reports.terminal import one_line
from gonie.system.files import atomic_write
from gonie.text.report import count

SHOWN = 10
DIGITS = 6  # of a probability in a file
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # what some reader takes for a cell's end


class Listed(Protocol):
    """Any dataclass of plain values."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


E = TypeVar("E", bound=Listed)
Write = Callable[[Iterable[E]], Iterator[str]]


def as_tsv(kind: type[E], errors: Iterable[E]) -> Iterator[str]:
    """Yield the lines of a table with a header, without quoting. Tabs and line ends become spaces."""
    yield "\t".join(field.name for field in fields(kind)) + "\n"
    for error in errors:
        cells = ("" if value is None else str(value) for value in _record(error).values())
        yield "\t".join(_BREAKS.sub(" ", cell) for cell in cells) + "\n"


def as_jsonl(kind: type[E], errors: Iterable[E]) -> Iterator[str]:
    """Yield one JSON object per line, with the column names as keys."""
    for error in errors:
        yield json.dumps(_record(error), ensure_ascii=False) + "\n"


def _record(error: Listed) -> dict[str, object]:
    return {
        name: round(value, DIGITS) if isinstance(value, float) else value
        for name, value in asdict(error).items()
    }


WRITERS: Mapping[str, Callable[[type[Any], Iterable[Any]], Iterator[str]]] = {
    ".tsv": as_tsv,
    ".jsonl": as_jsonl,
}


def error_writer(path: str | PathLike[str], kind: type[E]) -> Write[E]:
    """Return the function that writes errors of this kind, chosen by the suffix of the path."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise OutputError(
            f"{path}: expected a file for the errors that ends in {' or '.join(WRITERS)}, "
            f"got {f'one in {suffix}' if suffix else 'one without a suffix'}. Choose one of them"
        )
    return partial(WRITERS[suffix], kind)


def write_errors(path: Path, errors: Sequence[E], write: Write[E]) -> None:
    """Write the list, whole or not at all; a file's name that is no UTF-8 is escaped in it."""
    atomic_write(path, "".join(write(errors)).encode("utf-8", "backslashreplace"))


Cells = tuple[Text, Text, Text]
"""What is gold, what was predicted, and where."""


class Sure(Protocol):
    """What errors of every kind have."""

    @property
    def confidence(self) -> float:
        """How sure the model was."""

    @property
    def kind(self) -> str:
        """What is wrong."""


S = TypeVar("S", bound=Sure)


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
        grid.add_row(f"{error.confidence:.3f}", str(error.kind), *cells(error))
    console.print(grid)
    told = count(len(errors), "error")
    left = f"The {SHOWN} surest of {told}" if len(errors) > SHOWN else told
    console.print(Text(f"{left}; all of them, the surest first: {path}", style="dim"))


def label_cell(label: str | None) -> Text:
    """A label on one line, a dash for none."""
    return Text(one_line(label if label is not None else "–"))
