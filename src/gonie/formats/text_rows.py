"""Rows of input texts for a model, in one of these input kinds, for streams and bulk runs.

    text      one text per line; rows with several texts are tab-separated
    tokens    one sentence per line, as space-separated tokens
    jsonl     one JSON object per line; the columns are its keys
    tsv       a table with a header, one row per line, without quoting
    csv       a table with a header and quoting (in streams)
    parquet   a table with the texts in its columns

In a stream, a task may also read files in its labelled formats (``conll``). Their rows are examples.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.content import PEEK
from gonie.formats.delimited import (
    QUOTE,
    first_cells,
    read_csv_rows,
    refuse_header,
    tab_rows_reader,
    unheaded_names,
)
from gonie.formats.detect import check_plain_text, identify
from gonie.formats.format import HeaderNames, TaggedFormat
from gonie.formats.jsonl import read_record
from gonie.formats.table import FORMATS, TEXT_FORMATS
from gonie.system.files import STANDARD_INPUT, display, is_empty, is_stream, is_utf8, lines
from gonie.system.parquet import SUFFIX, ParquetCell, check_names
from gonie.text.report import Report

AUTO = "auto"
"""Choose the kind by the suffix of each file."""
TEXT, TOKENS, JSONL, TSV, CSV, PARQUET = "text", "tokens", "jsonl", "tsv", "csv", "parquet"
TABLES = (TSV, CSV)
CONLL = "conll"
COMPRESSED = (".gz", ".xz")
LONGEST_NAME = 4096
ARGUMENT = "TEXT"  # the name in messages of the text given on the command line
Place = tuple[str, int, str]
"""A file, a line number and the line."""
SUFFIXES: Mapping[str, tuple[str, ...]] = {
    PARQUET: (SUFFIX,),
    **{name: known.suffixes for name, known in TEXT_FORMATS.items()},
    CONLL: FORMATS[CONLL].suffixes,
}
"""The file suffixes of each kind."""


class TextRow(NamedTuple):
    """The texts of one row, their file and row number, and the object or table row they come from, if any.

    ``given`` has the fields of the input by name, as JSON texts, or is the row of a Parquet file. A row of a
    labelled file has no ``texts``. ``example`` is the example that the task's reader returned.
    """

    file: str
    number: int
    texts: tuple[str, ...]
    given: Mapping[str, str] | ParquetCell | None = None
    example: Any = None

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields of the input by name, as JSON texts. A plain line has none."""
        return self.given.fields if isinstance(self.given, ParquetCell) else self.given or {}

    @property
    def id(self) -> str | int | None:
        """The id of the row, if it has a field of that name with a string or a whole number."""
        found = json.loads(self.fields.get("id", "null"))
        return found if isinstance(found, str | int) and not isinstance(found, bool) else None

    @property
    def place(self) -> dict[str, Any]:
        """The file and number of the row."""
        return {"file": self.file, "row": self.number}


def kind_of(path: str | Path, kinds: Sequence[str]) -> str:
    """Return which of ``kinds`` a file is, by its suffix, or text for any other suffix."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED]
    last = suffixes[-1] if suffixes else ""
    return next((kind for kind in kinds if last in SUFFIXES.get(kind, ())), TEXT)


def content_kind(path: str | Path, kinds: Sequence[str]) -> str:
    """Return which of ``kinds`` a file is, by its suffix or else its content.

    Raise InputError if its content is not plain text, and of no such kind.
    """
    kind = kind_of(path, kinds)
    if kind not in (TEXT, TSV, CSV) or is_stream(path) or is_empty(path):
        return kind
    found = identify(path)
    sentences = found is not None and isinstance(found.format, TaggedFormat)
    if kind != TEXT and not sentences:
        return kind
    if found is not None and found.format.name in kinds and not (sentences and found.format.name in TABLES):
        return found.format.name
    check_plain_text(path, kinds)
    return TEXT


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
    return TextRow(file, number, tuple(record[column] for column in columns), field_texts(line))


_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def field_texts(line: str) -> dict[str, str]:
    """Return the values of a valid JSON object by key, as they are written.

    So numbers come back with all their digits, which a float may not hold: 1e400, 1.10.
    """
    found: dict[str, str] = {}
    at = _after(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = _decode(line, at)
        begin = _after(line, _after(line, at) + 1)  # after the colon
        at = _decode(line, begin)[1]
        found[name] = line[begin:at]
        at = _after(line, at)
        if line[at] == ",":
            at = _after(line, at + 1)
    if "\n" in line or "\r" in line:  # only between values: in strings they are escaped
        return {name: text.replace("\n", " ").replace("\r", " ") for name, text in found.items()}
    return found


def checked_fields(line: str) -> dict[str, str]:
    """Return the values of a JSON object by key, as they are written, or none if the line is invalid."""
    try:
        return field_texts(line) if isinstance(json.loads(line), dict) else {}
    except (ValueError, RecursionError):  # ValueError also for a number with too many digits
        return {}


def _after(line: str, at: int) -> int:
    """Return the place after any whitespace."""
    found = _SPACE.match(line, at)
    return found.end() if found else at


def header_columns(
    file: str, names: Sequence[str], *known: Sequence[str], numbers: bool = False
) -> tuple[str, ...]:
    """Return the columns of the texts: the first of ``known`` that a header with these ``names`` has.

    Raise InputError if it has none of them, or two columns with one name. ``numbers`` says that columns may
    be given by their numbers, for messages.
    """
    found = next((columns for columns in known if set(columns) <= set(names)), None)
    if found is None:
        missing = [name for name in known[0] if name not in names] if len(known) == 1 else known[0]
        one = len(known[0]) == 1
        options = "column of the text: --column NAME" if one else "columns: --column FIRST --column SECOND"
        number = f"give {'its number' if one else 'their numbers'} to --column, from 0"
        unheaded = number if numbers and len(names) > 1 else "use --input text"
        wanted = " or ".join(map(" and ".join, [missing, *known[1:]]))
        raise InputError(
            f"no column{'s' if len(missing) > 1 else ''} {wanted} in the header: {', '.join(names)[:200]}",
            path=file,
            line=1,
            fix=f"Name the {options}. Without a header, {unheaded}",
        )
    check_names(file, list(filter(None, names)))
    return tuple(found)


def table_row(
    file: str, number: int, line: str, columns: Sequence[str], names: Sequence[str]
) -> TextRow | None:
    """Return the row of a line of a TSV table with the columns ``names``, or None for a blank line."""
    if not line.strip():
        return None
    return _named_row(file, number, line.split("\t"), columns, names, kind=TSV)


def _named_row(
    file: str,
    number: int,
    cells: Sequence[str],
    columns: Sequence[str],
    names: Sequence[str],
    *,
    kind: str,
) -> TextRow:
    """Return the row with these cells of a table with the columns ``names``."""
    if len(cells) != len(names):
        separators, fix = _ADVICE[kind]
        raise InputError(
            f"expected {len(names)} columns separated by {separators}, as in the header, got {len(cells)}",
            path=file,
            line=number,
            fix=fix,
        )
    found = {name: cell for name, cell in zip(names, cells, strict=True) if name}
    given = {name: json.dumps(cell, ensure_ascii=False) for name, cell in found.items()}
    return TextRow(file, number, tuple(found[column] for column in columns), given)


_ADVICE = {
    TSV: ("tabs", "Replace tabs inside texts by spaces"),
    CSV: ("commas", QUOTE.format("commas")),
}


def read_table(
    path: str | Path,
    kind: str,
    report: Report,
    *,
    columns: Sequence[Sequence[str]],
    noun: str,
) -> Iterator[TextRow]:
    """Yield the rows of a TSV or CSV table, with the texts in the first of ``columns`` that the header has.

    Only a table whose columns are given by numbers may have no header. Rows with an empty text and empty
    lines are skipped and counted. ``noun`` is the plural of a row.
    """
    file = display(path)
    report.path = file
    head = [] if is_stream(path) else [line for _, line in islice(lines(path), PEEK)]
    read = tab_rows_reader(head) if kind == TSV else read_csv_rows
    rows = read(lines(path), report)
    first = next(rows, None)
    if first is None:
        raise InputError("the file is empty", path=file)
    names: Sequence[str] = first[1]
    if (
        kind == TSV
        and len(names) == 1
        and "," in names[0]
        and set(names[0].split(",")) & {*columns[0], "label"}
    ):
        raise InputError(
            f"no tabs in the header: {names[0][:100]!r}", path=file, line=1, fix="Pass --input csv"
        )
    if columns[0][0].isdigit() and int(columns[0][0]) < len(names):
        header = HeaderNames(columns[0], tuple(columns[0]))
        beginning = first_cells(read, enumerate(head, 1))
        unheaded = unheaded_names(names, header, beginning)
        if unheaded is not None:
            fix = f"Name the column of the texts: --column {shlex.quote(names[int(columns[0][0])])}"
            refuse_header(names, unheaded, beginning, header=header, path=file, line=first[0], fix=fix)
            rows, names = chain([first], rows), unheaded
    wanted = header_columns(file, names, *columns, numbers=True)
    empty = True
    for number, cells in rows:
        row = _named_row(file, number, cells, wanted, names, kind=kind)
        if all(text.strip() for text in row.texts):
            empty = False
            yield row
        else:
            report.skipped[f"{noun} with an empty text"] += 1
    if empty:
        raise InputError(f"no {noun} in the file", path=file)


def cell_row(file: str, cell: ParquetCell, columns: Sequence[str]) -> TextRow:
    """Return the row of a Parquet table row."""
    texts: list[str] = []
    for column, text in zip(columns, cell.texts, strict=True):
        if not isinstance(text, str):
            problem = "null" if text is None else "invalid UTF-8"
            raise InputError(f"{problem} in the column {column!r}", path=file, line=cell.row)
        texts.append(text)
    return TextRow(file, cell.row, tuple(texts), cell)


LINES: Mapping[str, Callable[[str, int, str, Sequence[str]], TextRow | None]] = {
    TEXT: line_row,
    TOKENS: line_row,
    JSONL: record_row,
}
"""The function that converts a line to a row, by input kind."""


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


def check_one_source(given: bool, files: Sequence[str | Path], *, read: bool = True) -> None:
    """Refuse a ``given`` text combined with files, and unreadable files before the first one is read."""
    if given and files:
        raise InputError("TEXT and --file cannot be combined", fix="Pass one of them")
    for file in files:
        if read and not is_stream(file):
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
