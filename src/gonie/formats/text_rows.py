"""Rows of input texts for a model, in one of these input kinds, for streams and bulk runs.

    text      one text per line; rows with several texts are tab-separated
    tokens    one sentence per line, as space-separated tokens
    jsonl     one JSON object per line; the columns are its keys
    tsv       a table with a header, one row per line (in bulk runs)
    parquet   a table with the texts in its columns

In a stream, a task may also read files in its labelled formats (``conll``, ``tsv``). Their rows are examples.
"""

from __future__ import annotations

import shlex
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
"""Choose the kind by the suffix of each file."""
TEXT, TOKENS, JSONL, TSV, PARQUET = "text", "tokens", "jsonl", "tsv", "parquet"
COMPRESSED = (".gz", ".xz")
LONGEST_NAME = 4096
ARGUMENT = "TEXT"  # the name in messages of the text given on the command line
Place = tuple[str, int, str]
"""A file, a line number and the line."""
SUFFIXES: Mapping[str, tuple[str, ...]] = {
    PARQUET: (SUFFIX,),
    **{name: known.suffixes for name, known in TEXT_FORMATS.items()},
}
"""The file suffixes of each kind."""


class TextRow(NamedTuple):
    """The texts of one row, their file and row number, and the object they come from, if any.

    A row of a labelled file has no ``texts``. ``example`` is the example that the task's reader returned.
    """

    file: str
    number: int
    texts: tuple[str, ...]
    record: Mapping[str, Any] | None = None
    example: Any = None

    @property
    def place(self) -> dict[str, Any]:
        """The file and number of the row, and its id if it has one."""
        known = {"file": self.file, "row": self.number}
        return known | ({ID: self.record[ID]} if self.record and ID in self.record else {})


def kind_of(path: str | Path, kinds: Sequence[str]) -> str:
    """Return which of ``kinds`` a file is, by its suffix, or text for any other suffix."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED]
    last = suffixes[-1] if suffixes else ""
    return next((kind for kind in kinds if last in SUFFIXES.get(kind, ())), TEXT)


def line_row(
    file: str, number: int, line: str, columns: Sequence[str], *, table: str = "pass --input tsv"
) -> TextRow:
    """Return the row of a line: one text, or one tab-separated text per column.

    ``table`` says how the command reads a table, for messages.
    """
    texts = (line,) if len(columns) == 1 else tuple(line.split("\t"))
    if len(texts) != len(columns):
        raise InputError(
            f"expected {len(columns)} tab-separated texts ({', '.join(columns)}), got {len(texts)}",
            path=file,
            line=number,
            fix=f"If it is a table with a header, {table}" if len(texts) > len(columns) else "",
        )
    return TextRow(file, number, texts)


def record_row(file: str, number: int, line: str, columns: Sequence[str]) -> TextRow | None:
    """Return the row of a line with a JSON object, or None for a blank line."""
    if not line.strip():
        return None
    record = read_record(line, file, number, keys=columns)
    return TextRow(file, number, tuple(record[column] for column in columns), record)


def header_names(file: str, line: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the column names of a TSV header. Raise InputError unless it has each of ``columns`` once."""
    names = tuple(line.split("\t"))
    for column in columns:
        if names.count(column) != 1:
            problem = "several columns" if column in names else "no column"
            raise InputError(
                f"{problem} {column} in the header: {', '.join(names)[:200]}",
                path=file,
                line=1,
                fix="Name the columns of the texts with --column. Without a header, use --input text",
            )
    return names


def table_row(
    file: str, number: int, line: str, columns: Sequence[str], names: Sequence[str]
) -> TextRow | None:
    """Return the row of a line of a TSV table with the columns ``names``, or None for a blank line."""
    if not line.strip():
        return None
    cells = line.split("\t")
    if len(cells) != len(names):
        raise InputError(
            f"expected {len(names)} columns separated by tabs, as in the header, got {len(cells)}",
            path=file,
            line=number,
            fix="Replace tabs inside texts by spaces",
        )
    found = dict(zip(names, cells, strict=True))
    return TextRow(file, number, tuple(found[column] for column in columns))


def cell_row(file: str, cell: ParquetCell, columns: Sequence[str]) -> TextRow:
    """Return the row of a Parquet table row."""
    found: dict[str, str] = {}
    for column, text in zip(columns, cell.texts, strict=True):
        if not isinstance(text, str):
            problem = "null" if text is None else "invalid UTF-8"
            raise InputError(f"{problem} in the column {column!r}", path=file, line=cell.row)
        found[column] = text
    named = {} if cell.id is None else {ID: _plain(cell.id)}
    return TextRow(file, cell.row, tuple(found.values()), {**named, **found})


LINES: Mapping[str, Callable[[str, int, str, Sequence[str]], TextRow | None]] = {
    TEXT: line_row,
    TOKENS: line_row,
    JSONL: record_row,
}
"""The function that converts a line to a row, by input kind."""


def _plain(value: Any) -> Any:
    """Return an id as a value that JSON can store."""
    return value if isinstance(value, str | int | float) else str(value)


def check_texts(texts: Sequence[str], needed: int, *, call: str) -> None:
    """Refuse TEXT arguments that are not ``needed`` texts, as arguments or with tabs in one argument.

    ``call`` is the command without its texts, for messages.
    """
    for text in texts:
        if is_file_name(text):
            raise InputError(
                f"TEXT is the name of a file: {text}",
                fix=f"To read the file, run: {call} --file {shlex.quote(text)}. For the text itself, use "
                "standard input",
            )
    got = len(texts) if len(texts) != 1 else 1 + texts[0].count("\t")
    if not texts or needed in (len(texts), got):
        return
    if needed == 1:
        raise InputError(
            f"expected one TEXT, got {got}",
            fix="Quote a text that has spaces. For several texts, pass one per line on standard input",
        )
    raise InputError(f"the model needs {needed} texts, got {got}", fix=f"Run: {call}{' TEXT' * needed}")


def is_file_name(text: str) -> bool:
    """Return whether a text is the name of a file that exists."""
    try:
        return bool(text) and len(text) < LONGEST_NAME and Path(text).is_file()
    except (OSError, ValueError):  # a name that is too long, or a NUL
        return False


def check_one_source(given: bool, files: Sequence[str | Path]) -> None:
    """Refuse a ``given`` text combined with files, and unreadable files before the first one is read."""
    if given and files:
        raise InputError("TEXT and --file cannot be combined", fix="Pass one of them")
    for file in files:
        if not is_stream(file):
            next(lines(file), None)


def read_lines(text: str | None, files: Sequence[str | Path]) -> Iterator[Place]:
    """Return the text of the command line, or the lines of the files or of standard input."""
    if text is not None:
        return iter([(ARGUMENT, 1, checked_argument(text))])
    return chain.from_iterable(file_lines(path) for path in files or [STANDARD_INPUT])


def checked_argument(text: str) -> str:
    """Return the argument. Raise InputError if the terminal sent bytes that are not UTF-8."""
    if is_utf8(text):
        return text
    raise InputError(
        f"invalid UTF-8: lone surrogate in {text[:60]!r}",
        path=ARGUMENT,
        fix="Check the terminal's encoding",
    )


def file_lines(path: str | Path) -> Iterator[Place]:
    """Return the lines of a file or stream with their file name and line number."""
    name = display(path)
    return ((name, number, line) for number, line in lines(path))
