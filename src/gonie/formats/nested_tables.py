"""The forms of tables whose cells can be nested: JSON, JSONL, Parquet, Arrow and, written as text, CSV.

A corpus with its own columns can be in any of them: its authors publish JSON, the Hugging Face hub Parquet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats import arrow, delimited, json_list, jsonl
from gonie.formats.content import Content, FileHead
from gonie.formats.format import HeaderNames, RowFormat, TableRows
from gonie.text.report import Report

FORMS: tuple[RowFormat, ...] = (*json_list.ROWS, *jsonl.ROWS, *arrow.ROWS, *delimited.ROWS)


class FirstRow(NamedTuple):
    """The form of a table and its first row."""

    form: RowFormat
    row: Mapping[str, Any]


def peek_rows(head: FileHead) -> FirstRow | None:
    """Return the first row of a file that is such a table, or None."""
    found = ((form, form.peek(head)) for form in FORMS)
    return next((FirstRow(form, row) for form, row in found if row is not None), None)


def read_rows(content: Content, report: Report) -> TableRows:
    """Read a file that is such a table. Refuse any other."""
    first = peek_rows(content.head)
    if first is None:
        raise InputError(
            "not a table with nested cells",
            path=report.path,
            fix="Such tables are JSON lists of objects, JSONL, Parquet and Arrow files",
        )
    return first.form.read(content, HeaderNames(), report)
