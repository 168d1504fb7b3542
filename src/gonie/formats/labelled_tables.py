"""Labelled texts in TSV or CSV tables, whose columns are found by the header.

TSV has no quoting: a quotation mark is an ordinary character, and a tab always ends a column. In CSV a quoted
field may contain commas, line breaks and, doubled, quotation marks.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from gonie.errors import InputError
from gonie.formats.format import LabelledFormat
from gonie.system.files import Line
from gonie.text.labelled_text import LabelledRow, TextOptions, split_labels
from gonie.text.report import Report

Fields = tuple[int, Sequence[str]]
"""The line on which a row begins, and its cells."""


def read_tsv(lines: Iterable[Line], options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield the rows of a tab-separated table. See ``_rows`` for tables without a header."""
    fix = "A tab inside a text must become a blank"
    return _rows(read_tab_rows(lines, report), options, report, apart="tabs", fix=fix)


def read_csv(lines: Iterable[Line], options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield the rows of a comma-separated table. The line of a row is the one on which it begins."""
    fix = 'A text with a comma in it needs quotation marks: "good, really"'
    return _rows(read_csv_rows(lines, report), options, report, apart="commas", fix=fix)


def first_row(line: str) -> list[str]:
    """Return the cells of the first line of a CSV file, to detect a header. Empty if it is not CSV."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


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

    def fed() -> Iterator[str]:
        for _, line in lines:
            yield line + "\n"

    reader = csv.reader(fed(), strict=True)
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            longest = csv.field_size_limit()
            raise InputError(
                f"expected a row of CSV, its fields no longer than {longest:,} characters, got what "
                f"is none ({error})",
                path=report.path,
                line=begin,
                fix="Is a quotation mark left open? Longer texts can be kept as TSV or JSONL",
            ) from None
        if fields is None:
            return
        if fields:
            yield begin, fields
        else:
            report.skipped["empty lines"] += 1
        begin = reader.line_num + 1


@dataclass(frozen=True, slots=True)
class _Layout:
    """The number of columns, the text and label columns, and whether the first row is a header."""

    width: int
    text: int
    label: int | None
    headed: bool


def _rows(
    table: Iterable[Fields], options: TextOptions, report: Report, *, apart: str, fix: str
) -> Iterator[LabelledRow]:
    """Yield the text and the labels of each row.

    Without a header, one column is the text, and two are the text and its label.
    """
    rows = iter(table)
    first = next(rows, None)
    if first is None:
        return
    layout = _layout(first, options, report)
    for line, fields in rows if layout.headed else chain([first], rows):
        if len(fields) != layout.width:
            raise InputError(
                f"expected {layout.width} column{('s' if layout.width > 1 else '')} apart by {apart}, "
                f"got {len(fields)}",
                path=report.path,
                line=line,
                fix=fix,
            )
        text = fields[layout.text]
        blank = not text.strip()  # the caller skips empty texts, so the label does not matter
        cell = "" if layout.label is None or blank else fields[layout.label]
        labels = () if blank else split_labels(cell, options, path=report.path, line=line)
        yield LabelledRow(line, text, labels)


def _layout(first: Fields, options: TextOptions, report: Report) -> _Layout:
    line, names = first
    text, label = options.text_column, options.label_column
    wanted = [name for name in (text, label) if name is not None]
    asked = " and ".join(wanted)
    present = [name for name in wanted if name in names]
    if len(present) == len(wanted) and all(names.count(name) == 1 for name in wanted):
        report.choose("header", ", ".join(names), f"the first line has {asked}")
        return _Layout(len(names), names.index(text), None if label is None else names.index(label), True)
    if not present and len(names) == 2:
        report.choose("header", "none", f"two columns, none called {' or '.join(wanted)}: text, label")
        return _Layout(2, 0, None if label is None else 1, False)
    if not present and len(names) == 1 and label is None:
        report.choose("header", "none", f"one column, not called {text}: a text a line")
        return _Layout(1, 0, None, False)
    raise InputError(
        f"expected a header with the column{('s' if len(wanted) > 1 else '')} {asked}, each "
        "once, or no header and "
        f"{('one or two columns' if label is None else 'two columns')}, got "
        f"{_shortened(', '.join(names))}",
        path=report.path,
        line=line,
        fix="Say which columns hold the text and the label",
    )


def _shortened(text: str, most: int = 200) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")


def _recognise_csv(first: str, options: TextOptions) -> str | None:
    found = "\t" not in first and options.text_column in first_row(first)
    return f"the first line has {options.text_column} between commas" if found else None


LABELLED = (
    LabelledFormat(
        name="tsv",
        description="a table with tabs, quoting off",
        read=read_tsv,
        suffixes=(".tsv",),
        recognise=lambda first, options: (
            "tabs in the first line" if "\t" in first else "no other format fits"
        ),
        rank=9,
    ),
    LabelledFormat(
        name="csv",
        description="a table with commas and quotation marks",
        read=read_csv,
        suffixes=(".csv",),
        recognise=_recognise_csv,
        rank=2,
    ),
)
