"""Lists of errors as files: a table to read and to cut, or lines of JSON for a program.

A kind of error is a dataclass; its fields are the columns. So the errors of taggers and of classifiers are
written by the same few lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, asdict, fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from gonie.errors import OutputError

DIGITS = 6  # of a probability in a file
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # what some reader takes for a cell's end


class Listed(Protocol):
    """Any dataclass of plain values."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


E = TypeVar("E", bound=Listed)
Write = Callable[[Iterable[E]], Iterator[str]]


def as_tsv(kind: type[E], errors: Iterable[E]) -> Iterator[str]:
    """Lines of a table with a header and no quoting; a tab or line end within a field becomes a blank."""
    yield "\t".join(field.name for field in fields(kind)) + "\n"
    for error in errors:
        cells = ("" if value is None else str(value) for value in _record(error).values())
        yield "\t".join(_BREAKS.sub(" ", cell) for cell in cells) + "\n"


def as_jsonl(kind: type[E], errors: Iterable[E]) -> Iterator[str]:
    """A JSON object a line, with the names of the table's columns."""
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
    """What writes a list of such errors to a file of this name, by its suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise OutputError(
            f"{path}: expected a file for the errors that ends in {' or '.join(WRITERS)}, "
            f"got {f'one in {suffix}' if suffix else 'one without a suffix'}. Choose one of them"
        )
    return partial(WRITERS[suffix], kind)
