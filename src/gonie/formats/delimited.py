"""TSV and CSV tables, whose columns are found by the header.

TSV has no quoting: a quotation mark is an ordinary character, and a tab always ends a column. In CSV a quoted
field may contain commas, line breaks and, doubled, quotation marks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import HeaderNames, RowFormat, TableRows
from gonie.system.files import Line
from gonie.text.report import Report

Fields = tuple[int, Sequence[str]]
"""The line on which a row begins, and its cells."""


def read_tab_rows(lines: Iterable[Line], report: Report) -> Iterator[Fields]:
    """Yield the cells of each line between its tabs. Empty lines are skipped and counted."""
    for number, line in lines:
        if line:
            yield number, line.split("\t")
        else:
            report.skipped["empty lines"] += 1


def read_csv_rows(lines: Iterable[Line], report: Report) -> Iterator[Fields]:
    """Yield the cells of each row, with the line on which it begins. Empty lines are skipped and counted."""
    begin = 1
    lines = iter(lines)
    first = next(lines, None)
    if first is None:
        return

    def line_texts() -> Iterator[str]:
        for _, line in chain([first], lines):
            yield line + "\n"

    reader = csv.reader(line_texts(), delimiter=_delimiter(first[1]), strict=True)
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            longest = csv.field_size_limit()
            raise InputError(
                f"invalid CSV row: {error}",
                path=report.path,
                line=begin,
                fix="Close every quotation mark. "
                f"For texts longer than {longest:,} characters, use TSV or JSONL",
            ) from None
        if fields is None:
            return
        if fields:
            yield begin, fields
        else:
            report.skipped["empty lines"] += 1
        begin = reader.line_num + 1


def _delimiter(line: str) -> str:
    """Return what separates the columns: semicolons (Excel in Europe) if a header has only these."""
    return ";" if ";" in line and "," not in line and "; " not in line else ","


ReadRows = Callable[[Iterable[Line], Report], Iterator[Fields]]


def _read(
    content: Content, header: HeaderNames, report: Report, *, rows: ReadRows, separators: str, fix: str
) -> TableRows:
    """Return the rows of a table."""
    table = rows(content.lines, report)
    first = next(table, None)
    if first is None:
        return TableRows(1, (), iter(()))
    line, cells = first
    names = _unheaded(cells, header)
    if names is None:
        twice = [name for name in cells if cells.count(name) > 1]
        if twice:
            raise InputError(f"two columns are called {twice[0]!r}", path=report.path, line=line)
        report.choose("header", ", ".join(cells), "the first line has columns with known names")
        return TableRows(line, cells, _below(cells, table, report, separators, fix))
    refuse_header(cells, rows(enumerate(content.head.lines, 1), Report()), path=report.path, line=line)
    report.choose("header", "none", f"{len(cells)} columns, none with a known name: {', '.join(names)}")
    return TableRows(line, names, _below(names, chain([first], table), report, separators, fix))


def _unheaded(cells: Sequence[str], header: HeaderNames) -> Sequence[str] | None:
    """Return the names of the columns of a table without a header, or None if these cells are a header."""
    fits = len(header.unheaded) <= len(cells) <= 2
    if not header.unheaded or not fits or set(cells) & set(header.known):
        return None
    return (*header.unheaded, "label")[: len(cells)]


def refuse_header(
    cells: Sequence[str], first_rows: Iterable[Fields], *, path: str, line: int, fix: str = ""
) -> None:
    """Refuse a first row that seems to be a header: its last cell is no label, while other rows share theirs.

    ``fix`` says how the command names columns.
    """
    labels = [fields[-1] for _, fields in first_rows if len(fields) == 2]
    others = labels[1:]
    if len(others) >= 4 and labels[0] not in others and 2 * len(set(others)) <= len(others):
        raise InputError(
            f"the first line seems to be a header: {_shortened(', '.join(cells))}",
            path=path,
            line=line,
            fix=fix or f"Name the columns: --text {cells[0]} --label {cells[-1]}",
        )


def _below(
    names: Sequence[str], rows: Iterable[Fields], report: Report, separators: str, fix: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, fields in rows:
        if len(fields) != len(names):
            raise InputError(
                f"expected {len(names)} column{'s' if len(names) > 1 else ''} separated by {separators}, "
                f"got {len(fields)}",
                path=report.path,
                line=line,
                fix=fix,
            )
        yield line, dict(zip(names, fields, strict=True))


def _peek_tsv(head: FileHead) -> Mapping[str, Any] | None:
    rows = [line.split("\t") for line in head.filled[:2]]
    return None if head.is_json else _sample(rows)


def _peek_csv(head: FileHead) -> Mapping[str, Any] | None:
    if head.is_json or not head.filled or "\t" in head.filled[0]:
        return None
    try:
        return _sample(list(csv.reader(head.filled[:2], delimiter=_delimiter(head.filled[0]))))
    except csv.Error:
        return None


def _sample(rows: Sequence[Sequence[str]]) -> Mapping[str, Any] | None:
    """Return the second row by the names in the first, if that has at least two distinct cells."""
    if not rows or len(rows[0]) < 2 or len(set(rows[0])) < len(rows[0]):
        return None
    cells = list(rows[1]) if len(rows) > 1 else []
    return dict(zip(rows[0], cells + [""] * len(rows[0]), strict=False))


def _write_tsv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for cells in _cells(rows):
        if any(character in cell for cell in cells for character in "\t\n\r"):
            raise InputError(
                f"TSV cannot store tabs or line breaks: {_shortened(str(cells))}", fix="Write csv or jsonl"
            )
        yield "\t".join(cells) + "\n"


def _write_csv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for cells in _cells(rows):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        yield text.getvalue()


def _cells(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """Yield the header and the cells of each row, which must be single values."""
    names: list[str] | None = None
    for row in rows:
        if names is None:
            names = list(row)
            yield names
        if any(isinstance(value, list) for value in row.values()):
            raise InputError("a table cannot store texts with several labels or none", fix="Write jsonl")
        yield [str(row[name]) for name in names]


def _shortened(text: str, most: int = 200) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")


ROWS = (
    RowFormat(
        name="csv",
        description="comma-separated table with quoting",
        suffixes=(".csv",),
        peek=_peek_csv,
        read=lambda content, header, report: _read(
            content,
            header,
            report,
            rows=read_csv_rows,
            separators="commas",
            fix='Quote texts that contain commas: "good, really"',
        ),
        write=_write_csv,
        nested=False,
        rank=7,
    ),
    RowFormat(
        name="tsv",
        description="tab-separated table without quoting",
        suffixes=(".tsv",),
        peek=_peek_tsv,
        read=lambda content, header, report: _read(
            content,
            header,
            report,
            rows=read_tab_rows,
            separators="tabs",
            fix="Replace tabs inside texts by spaces",
        ),
        write=_write_tsv,
        nested=False,
        rank=8,
    ),
)
