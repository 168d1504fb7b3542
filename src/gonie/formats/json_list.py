"""JSON: a list of objects, as a table whose columns are the keys.

    [{"text": "what a film", "label": "positive"}, …]

The list may also be under ``data``, beside a ``version``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import PEEK, Content, FileHead
from gonie.formats.format import HeaderNames, Row, RowFormat, TableRows, first_row
from gonie.formats.jsonl import json_type
from gonie.text.report import Report


def objects_of(document: Any) -> list[Any] | None:
    """Return the list of objects of a JSON document, or None if it is something else."""
    values = document.get("data") if isinstance(document, dict) else document
    return values if isinstance(values, list) and values and isinstance(values[0], dict) else None


def _read(content: Content, header: HeaderNames, report: Report) -> TableRows:
    values = objects_of(content.head.document)
    if values is None:
        raise InputError("expected a JSON list of objects", path=report.path, fix="For JSONL, --format jsonl")
    names = dict.fromkeys(name for value in values[:PEEK] if isinstance(value, dict) for name in value)
    return TableRows(1, list(names), _rows(values, report))


def _rows(values: Sequence[Any], report: Report) -> Iterator[Row]:
    """Yield the objects. Their numbers stand for lines in messages."""
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            found = json_type(value)
            raise InputError(f"object {number}: expected a JSON object, got {found}", path=report.path)
        yield number, value


def _peek(head: FileHead) -> Mapping[str, Any] | None:
    values = objects_of(head.document)
    return None if values is None else first_row(each for each in values[:PEEK] if isinstance(each, dict))


def write_objects(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the pieces of a JSON list with an object per line."""
    before = "[\n"
    for row in rows:
        yield before + json.dumps(row, ensure_ascii=False)
        before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"


ROWS = (
    RowFormat(
        name="json",
        description="a JSON list of objects",
        suffixes=(".json",),
        peek=_peek,
        read=_read,
        write=write_objects,
    ),
)
