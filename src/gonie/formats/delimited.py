"""TSV and CSV tables, whose columns are found by the header.

TSV has no quoting: a quotation mark is an ordinary character, and a tab always ends a column. In CSV a quoted
field may contain commas, line breaks and, doubled, quotation marks. A TSV whose first lines only make sense
with quoting, as pandas writes it, is read like CSV.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import PEEK, Content, FileHead
from gonie.formats.format import HeaderNames, RowFormat, TableRows
from gonie.system.files import Line
from gonie.text.report import Report

Fields = tuple[int, Sequence[str]]
"""The line on which a row begins, and its cells."""
FEW = 4
"""Fewer rows do not show which column has labels."""
ReadRows = Callable[[Iterable[Line], Report], Iterator[Fields]]
SPACES = (
    "Replace tabs inside texts by spaces, or read quoted cells with --format csv (in a recipe data.format)"
)
QUOTE = 'Quote texts that contain {}: "…"'


def read_tab_rows(lines: Iterable[Line], report: Report) -> Iterator[Fields]:
    """Yield the cells of each line between its tabs. Empty lines are skipped and counted."""
    for number, line in lines:
        if line:
            cells = line.split("\t")
            if '""' in line and any(map(_is_quoted, cells)):
                report.noticed[
                    "lines with doubled quotation marks, which only the format csv reads as quoted"
                ] += 1
            yield number, cells
        else:
            report.skipped["empty lines"] += 1


def read_csv_rows(lines: Iterable[Line], report: Report) -> Iterator[Fields]:
    """Yield the cells of each row, with the line on which it begins. Empty lines are skipped and counted."""
    for row in parse_csv(lines, report.path):
        if row[1]:
            yield row
        else:
            report.skipped["empty lines"] += 1


def parse_csv(lines: Iterable[Line], path: str) -> Iterator[Fields]:
    """Yield the cells of each row, with the line on which it begins. An empty line has no cells."""
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
                path=path,
                line=begin,
                fix="Close every quotation mark. "
                f"For texts longer than {longest:,} characters, use TSV or JSONL",
            ) from None
        if fields is None:
            return
        yield begin, fields
        begin = reader.line_num + 1


def first_cells(read: ReadRows, lines: Iterable[Line]) -> list[Sequence[str]]:
    """Return the cells of the first lines of a file, up to a row that is damaged or cut off."""
    found: list[Sequence[str]] = []
    with suppress(InputError):
        for _, cells in read(lines, Report()):
            found.append(cells)
    return found


def _is_quoted(cell: str) -> bool:
    """Return whether a cell is in quotation marks, with doubled ones inside."""
    inner = cell[1:-1]
    return cell[:1] == cell[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")


def tab_rows_reader(first_lines: Sequence[str]) -> ReadRows:
    """Return the reader of a tab-separated file: with quoting if its first lines only make sense with it."""
    plain = [line.split("\t") for line in first_lines if line]
    quoted = _quoted_cells(first_lines)
    uneven = any(len(cells) != len(plain[0]) for cells in plain)
    makes_sense = len(quoted) > 1 and all(len(cells) == len(quoted[0]) > 1 for cells in quoted)
    needed = uneven or any(_is_quoted(cell) for cells in plain for cell in cells)
    return read_csv_rows if needed and makes_sense else read_tab_rows


def _quoted_cells(first_lines: Sequence[str]) -> list[Sequence[str]]:
    """Return the cells of the first lines of a file read with quoting, or nothing if a row is damaged.

    The last row may be cut off in the middle of a quoted cell, if there are more lines.
    """
    with suppress(InputError):
        return [cells for _, cells in read_csv_rows(enumerate(first_lines, 1), Report())]
    with suppress(InputError):
        *whole, (last, _) = parse_csv(enumerate([*first_lines, '"'], 1), "")
        if len(first_lines) >= PEEK and 2 * last > PEEK:  # otherwise its quotation mark is never closed
            return [cells for _, cells in whole if cells]
    return []


def separators_of(line: str) -> str:
    """Return the name of what separates the columns of a CSV table with this first line."""
    return {"\t": "tabs", ";": "semicolons", ",": "commas"}[_delimiter(line)]


def _delimiter(line: str) -> str:
    """Return what separates the columns: tabs, or semicolons (Excel in Europe), if a header has these."""
    if "\t" in line:
        return "\t"
    return ";" if ";" in line and "," not in line and "; " not in line else ","


def _read(content: Content, header: HeaderNames, report: Report, *, rows: ReadRows) -> TableRows:
    """Return the rows of a table."""
    if rows is read_tab_rows and (rows := tab_rows_reader(content.head.lines)) is not read_tab_rows:
        report.choose("quoting", "as in CSV", "cells with doubled quotation marks, tabs or line breaks")
    quoting = rows is read_csv_rows
    separators = separators_of(content.head.lines[0]) if quoting else "tabs"
    fix = "" if quoting else SPACES
    table = rows(content.lines, report)
    first = next(table, None)
    if first is None:
        return TableRows(1, (), iter(()))
    line, cells = first
    beginning = first_cells(rows, enumerate(content.head.lines, 1))
    names = unheaded_names(cells, header, beginning)
    if names is None:
        twice = [name for name in cells if name and cells.count(name) > 1]
        if twice:
            raise InputError(f"two columns are called {twice[0]!r}", path=report.path, line=line)
        named = ", ".join(filter(None, cells))
        given = set(cells) & set(content.head.columns) - set(header.known)
        reason = (
            "the first line has the given column names"
            if given
            else "the first line has columns with known names"
        )
        report.choose("header", named, reason)
        return TableRows(line, cells, _below(cells, table, report, separators, fix))
    refuse_header(cells, names, beginning, header=header, path=report.path, line=line)
    report.choose("header", "none", "the first line has no column with a known name")
    report.choose("columns", ", ".join(names), _order(names))
    return TableRows(line, names, _below(names, chain([first], table), report, separators, fix))


def unheaded_names(
    cells: Sequence[str], header: HeaderNames, beginning: Sequence[Sequence[str]]
) -> Sequence[str] | None:
    """Return the names of the columns of a table without a header, or None if ``cells`` are a header.

    They are numbers if the user named a column by its number. Otherwise there are at most two columns, the
    text and its label, in the order that the ``beginning`` of the table shows.
    """
    if not header.unheaded or set(cells) & set(header.known):
        return None
    numbers = [str(at) for at in range(len(cells))]
    rest = [name for name in header.unheaded if not name.isdigit()]
    if len(rest) < len(header.unheaded):
        other = [name if name in header.unheaded else rest[0] for name in numbers] if rest else numbers
        return other if len(numbers) == 2 else numbers
    if not len(header.unheaded) <= len(cells) <= 2:
        return None
    names = (*header.unheaded, "label")[: len(cells)]
    return names[::-1] if _label_first(beginning) else names


def _label_first(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of two columns has labels: its values are shorter, and repeat more.

    In a few rows they may not repeat.
    """
    columns = list(zip(*(row for row in rows if len(row) == 2), strict=True))
    if not columns:
        return False
    lengths = [sum(map(len, column)) for column in columns]
    distinct = [len(set(column)) for column in columns]
    equal = len(rows) < FEW and distinct[0] == distinct[1]
    return lengths[0] < lengths[1] and (distinct[0] < distinct[1] or equal)


def _order(names: Sequence[str]) -> str:
    if any(name.isdigit() for name in names):
        return "counted from 0, as given"
    return "by their values" if len(names) > 1 else "there is only one"


def refuse_header(
    cells: Sequence[str],
    names: Sequence[str],
    beginning: Sequence[Sequence[str]],
    *,
    header: HeaderNames,
    path: str,
    line: int,
    fix: str = "",
) -> None:
    """Refuse a first row that seems to be a header: its label is not one that the other rows share.

    ``names`` are the columns without a header. ``fix`` says how the command names columns.
    """
    places = [names.index(name) for name in header.unheaded if name in names]
    text, label = (places[0], places[-1]) if len(places) > 1 else (0, -1)
    labels = [fields[label] for fields in beginning if len(fields) == len(cells)]
    others = labels[1:]
    if len(others) >= 4 and labels[0] not in others and 2 * len(set(others)) <= len(others):
        raise InputError(
            f"the first line seems to be a header: {_shortened(', '.join(cells))}",
            path=path,
            line=line,
            fix=fix
            or f"Name the columns: --text {shlex.quote(cells[text])} --label {shlex.quote(cells[label])}",
        )


def _below(
    names: Sequence[str], rows: Iterable[Fields], report: Report, separators: str, fix: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows by the names of their columns. Columns without a name are ignored, and noted."""
    unnamed = [at for at, name in enumerate(names) if not name]
    for line, fields in rows:
        check_width(fields, len(names), separators, path=report.path, line=line, fix=fix)
        if unnamed and any(fields[at].strip() for at in unnamed):
            report.noticed["rows with content in columns without a name, which is ignored"] += 1
        yield line, {name: field for name, field in zip(names, fields, strict=True) if name}


def check_width(
    fields: Sequence[str], width: int, separators: str, *, path: str, line: int, fix: str = ""
) -> None:
    """Refuse a row that has not as many cells as there are columns."""
    if len(fields) != width:
        raise InputError(
            f"expected {width} column{'s' if width > 1 else ''} separated by {separators}, got {len(fields)}",
            path=path,
            line=line,
            fix=fix or QUOTE.format(separators),
        )


Peek = Callable[[FileHead], Mapping[str, Any] | None]


def _peek_tsv(head: FileHead) -> Mapping[str, Any] | None:
    rows = [line.split("\t") for line in head.filled[:2]]
    return None if head.is_json else _sample(rows, head.columns)


def _peek_csv(head: FileHead) -> Mapping[str, Any] | None:
    if head.is_json or not head.filled or "\t" in head.filled[0]:
        return None
    try:
        rows = list(csv.reader(head.filled[:2], delimiter=_delimiter(head.filled[0])))
    except csv.Error:
        return None
    return _sample(rows, head.columns)


def _unheaded_texts(read: ReadRows, peek: Peek, head: FileHead) -> str | None:
    """Return why a table without a header has labelled texts: phrases in one column, a few labels in one.

    A few rows may have a stray separator, which reading reports.
    """
    rows = [] if peek(head) is None else first_cells(read, enumerate(head.lines, 1))
    whole = [row for row in rows if len(row) == 2]
    if len(whole) < FEW or 10 * len(whole) < 9 * len(rows):
        return None
    label = 0 if _label_first(whole) else 1
    labels, texts = ([row[at] for row in whole] for at in (label, 1 - label))
    few = labels[0] in labels[1:] and 2 * len(set(labels)) <= len(labels) < 2 * len(set(texts))
    short = all(cell.strip() and len(cell.split()) <= 3 for cell in labels)
    phrases = sum(" " in cell.strip() and not cell.startswith(" ") for cell in texts)
    if not few or not short or 2 * phrases <= len(texts):
        return None
    return f"its {('first', 'second')[label]} column has {len(set(labels))} labels, the other one texts"


def _sample(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the second row by the names in the first, if that has at least two names, all different.

    If the user named ``columns`` by their numbers, return the first row by numbers.
    """
    if rows and any(name.isdigit() and name not in rows[0] for name in columns):
        return {str(at): cell for at, cell in enumerate(rows[0])}
    names = list(filter(None, rows[0])) if rows else []
    if len(names) < 2 or len(set(names)) < len(names):
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


def write_csv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a header and each row as CSV."""
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
        if differing := sorted(row.keys() ^ names):
            raise InputError(f"only some rows have the column {differing[0]}", fix="Write jsonl")
        yield [str(row[name]) for name in names]


def _shortened(text: str, most: int = 200) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")


ROWS = (
    RowFormat(
        name="csv",
        description="comma-separated table with quoting",
        suffixes=(".csv",),
        peek=_peek_csv,
        unheaded=partial(_unheaded_texts, read_csv_rows, _peek_csv),
        read=partial(_read, rows=read_csv_rows),
        write=write_csv,
        nested=False,
        rank=7,
    ),
    RowFormat(
        name="tsv",
        description="tab-separated table without quoting",
        suffixes=(".tsv",),
        peek=_peek_tsv,
        unheaded=partial(_unheaded_texts, read_tab_rows, _peek_tsv),
        read=partial(_read, rows=read_tab_rows),
        write=_write_tsv,
        nested=False,
        rank=8,
    ),
)
