"""Writers for lists of errors: a TSV table or JSON Lines.

Each kind of error is a dataclass, and its fields are the columns. So the errors of taggers and classifiers
share the same code.
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

DIGITS = 6  # digits of a probability
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # characters that may end a cell


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
