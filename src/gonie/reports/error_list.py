"""Lists of errors: the most confident ones on the terminal, and all of them in a TSV or JSONL file.

Each kind of error is a dataclass whose fields are the columns, so this code works for the errors of any task.
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
from gonie.messages import say
from gonie.reports.terminal import one_line
from gonie.system.files import atomic_write
from gonie.text.report import count

SHOWN = 10
DIGITS = 6  # decimals of a probability in a file
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # characters that may end a cell or a line


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
            f"{path}: unsupported suffix for a list of errors: {suffix or 'none'}. Use {' or '.join(WRITERS)}"
        )
    return partial(WRITERS[suffix], kind)


def write_errors(path: Path, errors: Sequence[E], write: Write[E]) -> None:
    """Write the list atomically. File names that are not valid UTF-8 are escaped."""
    atomic_write(path, "".join(write(errors)).encode("utf-8", "backslashreplace"))


Cells = tuple[Text, Text, Text]
"""The gold label, the predicted label and the context."""


class ConfidentError(Protocol):
    """The properties that errors of every kind have."""

    @property
    def confidence(self) -> float:
        """The confidence of the model in its prediction."""

    @property
    def kind(self) -> str:
        """The kind of the error."""


S = TypeVar("S", bound=ConfidentError)


def print_errors(
    console: Console, errors: Sequence[S], path: Path, *, cells: Callable[[S], Cells], text: str = "text"
) -> None:
    """Print the most confident errors and the path of the full list. Texts are never read as markup.

    ``cells`` returns the last three columns of an error, and ``text`` is the heading of the last one.
    """
    if not errors:
        console.print(Text(f"No errors; the list {path} is empty.", style="dim"))
        return
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("confidence", "error", "gold", "predicted"):
        grid.add_column(name, no_wrap=name in ("confidence", "error"))
    grid.add_column(text, overflow="fold")
    for error in errors[:SHOWN]:
        grid.add_row(f"{error.confidence:.3f}", say(str(error.kind)), *cells(error))
    console.print(grid)
    total = count(len(errors), "error")
    shown = f"The {SHOWN} most confident of {total}" if len(errors) > SHOWN else total
    console.print(Text(f"{shown}; full list: {path}", style="dim"))


def label_cell(label: str | None) -> Text:
    """Return a label on one line, or a dash for None."""
    return Text(one_line(label if label is not None else "–"))
