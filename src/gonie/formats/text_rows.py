"""Rows of texts that a model is to answer: the one definition of input kinds, for streams and bulk runs.

    text      a text on each line; where a row has several texts, with tabs between them
    tokens    a sentence on each line, as space-separated tokens
    jsonl     a JSON object on each line, its texts under the keys that are the columns
    parquet   a table with the texts in its columns

A task may also read files of its labelled formats (``conll``, ``tsv``): their rows are examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.jsonl import read_record
from gonie.formats.table import TEXT_FORMATS
from gonie.system.files import STANDARD_INPUT, display, is_stream, is_utf8, lines
from gonie.system.parquet import ID, SUFFIX, ParquetCell

AUTO = "auto"
"""Go by the suffix of each file."""
TEXT, TOKENS, JSONL, PARQUET = "text", "tokens", "jsonl", "parquet"
COMPRESSED = (".gz", ".xz")
ARGUMENT = "TEXT"  # what messages call the text on the command line
Place = tuple[str, int, str]
"""A file, a line number and the line."""
SUFFIXES: Mapping[str, tuple[str, ...]] = {
    PARQUET: (SUFFIX,),
    **{name: known.suffixes for name, known in TEXT_FORMATS.items()},
}
"""The suffixes that tell a kind."""


class TextRow(NamedTuple):
    """The texts of one row, where they stood, and the object they stood in, if any.

    ``example`` is what a task's own reader made of a row of a labelled file; it has no ``texts``.
    """

    file: str
    number: int
    texts: tuple[str, ...]
    record: Mapping[str, Any] | None = None
    example: Any = None

    @property
    def place(self) -> dict[str, Any]:
        """What finds the row again: its file and number, and its id where it has one."""
        known = {"file": self.file, "row": self.number}
        return known | ({ID: self.record[ID]} if self.record and ID in self.record else {})


def kind_of(path: str | Path, kinds: Sequence[str]) -> str:
    """Which of ``kinds`` a file is, as its name tells; text where it tells none of them."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED]
    last = suffixes[-1] if suffixes else ""
    return next((kind for kind in kinds if last in SUFFIXES.get(kind, ())), TEXT)


def line_row(file: str, number: int, line: str, columns: Sequence[str]) -> TextRow:
    """A line is a text, or as many as there are columns, with tabs between them."""
    texts = (line,) if len(columns) == 1 else tuple(line.split("\t"))
    if len(texts) != len(columns):
        raise InputError(
            f"expected {len(columns)} texts with tabs between them ({', '.join(columns)}), got "
            f"{len(texts)!s}",
            path=file,
            line=number,
        )
    return TextRow(file, number, texts)


def record_row(file: str, number: int, line: str, columns: Sequence[str]) -> TextRow | None:
    """A line is a JSON object with its texts; blank lines between objects are none."""
    if not line.strip():
        return None
    record = read_record(line, file, number, keys=columns)
    return TextRow(file, number, tuple(record[column] for column in columns), record)


def cell_row(file: str, cell: ParquetCell, columns: Sequence[str]) -> TextRow:
    """A row of a table with its texts."""
    found: dict[str, str] = {}
    for column, text in zip(columns, cell.texts, strict=True):
        if not isinstance(text, str):
            got = "none (null)" if text is None else "bytes that are not UTF-8"
            raise InputError(f"expected a text in the column {column!r}, got {got}", path=file, line=cell.row)
        found[column] = text
    named = {} if cell.id is None else {ID: _plain(cell.id)}
    return TextRow(file, cell.row, tuple(found.values()), {**named, **found})


LINES: Mapping[str, Callable[[str, int, str, Sequence[str]], TextRow | None]] = {
    TEXT: line_row,
    TOKENS: line_row,
    JSONL: record_row,
}
"""How a line becomes a row, by the kind of input."""


def _plain(value: Any) -> Any:
    """An id that JSON can hold."""
    return value if isinstance(value, str | int | float) else str(value)


def check_one_source(given: bool, files: Sequence[str | Path]) -> None:
    """Refuse a text that is ``given`` beside files, and a file that cannot be read, before the first is."""
    if given and files:
        raise InputError("expected a TEXT or --file, got both", fix="Give one of them.")
    for file in files:
        if not is_stream(file):
            next(lines(file), None)


def read_lines(text: str | None, files: Sequence[str | Path]) -> Iterator[Place]:
    """The text on the command line, or each line of the files or of standard input."""
    if text is not None:
        return iter([(ARGUMENT, 1, whole_text(text))])
    return chain.from_iterable(file_lines(path) for path in files or [STANDARD_INPUT])


def whole_text(text: str) -> str:
    """The argument, unless the terminal sent bytes that are not UTF-8."""
    if is_utf8(text):
        return text
    raise InputError(
        f"expected UTF-8, got a lone surrogate in {text[:60]!r}",
        path=ARGUMENT,
        fix="Check the terminal's encoding",
    )


def file_lines(path: str | Path) -> Iterator[Place]:
    """The lines of one file or stream, with their places."""
    name = display(path)
    return ((name, number, line) for number, line in lines(path))
