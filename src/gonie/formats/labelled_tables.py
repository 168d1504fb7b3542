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
    fix = "Replace tabs inside texts by spaces"
    return _rows(read_tab_rows(lines, report), options, report, separators="tabs", fix=fix)


def read_csv(lines: Iterable[Line], options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield the rows of a comma-separated table. The line of a row is the one on which it begins."""
    fix = 'Quote texts that contain commas: "good, really"'
    return _rows(read_csv_rows(lines, report), options, report, separators="commas", fix=fix)


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

    def line_texts() -> Iterator[str]:
        for _, line in lines:
            yield line + "\n"

    reader = csv.reader(line_texts(), strict=True)
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


@dataclass(frozen=True, slots=True)
class _Layout:
    """The number of columns, the text and label columns, and whether the first row is a header."""

    width: int
    text: int
    label: int | None
    headed: bool


def _rows(
    table: Iterable[Fields], options: TextOptions, report: Report, *, separators: str, fix: str
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
                f"expected {layout.width} column{('s' if layout.width > 1 else '')} separated by "
                f"{separators}, got {len(fields)}",
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
    shown = " and ".join(wanted)
    present = [name for name in wanted if name in names]
    if len(present) == len(wanted) and all(names.count(name) == 1 for name in wanted):
        report.choose("header", ", ".join(names), f"the first line has {shown}")
        return _Layout(len(names), names.index(text), None if label is None else names.index(label), True)
    if not present and len(names) == 2:
        report.choose("header", "none", f"two columns, none called {' or '.join(wanted)}: text, label")
        return _Layout(2, 0, None if label is None else 1, False)
    if not present and len(names) == 1 and label is None:
        report.choose("header", "none", f"one column, not called {text}: one text per line")
        return _Layout(1, 0, None, False)
    twice = [name for name in present if names.count(name) > 1]
    missing = [name for name in wanted if name not in present]
    problem = f"several columns {twice[0]}" if twice else f"no column {' and '.join(missing)}"
    raise InputError(
        f"{problem} in the header {_shortened(', '.join(names))}",
        path=report.path,
        line=line,
        fix="Name the columns with data.text_column and data.label_column (--text-column, --label-column)",
    )


def _shortened(text: str, most: int = 200) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")


def _recognise_csv(first: str, options: TextOptions) -> str | None:
    found = "\t" not in first and options.text_column in first_row(first)
    return f"the first line has the column {options.text_column}" if found else None


LABELLED = (
    LabelledFormat(
        name="tsv",
        description="tab-separated table without quoting",
        read=read_tsv,
        suffixes=(".tsv",),
        recognise=lambda first, options: (
            "tabs in the first line" if "\t" in first else "no other format fits"
        ),
        rank=9,
    ),
    LabelledFormat(
        name="csv",
        description="comma-separated table with quoting",
        read=read_csv,
        suffixes=(".csv",),
        recognise=_recognise_csv,
        rank=2,
    ),
)
