"""JSONL: one JSON object per line, as a table whose columns are the keys, and as the output of models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import HeaderNames, RowFormat, TableRows, first_row
from gonie.system.files import Line, is_utf8
from gonie.text.report import Report


def _read(content: Content, header: HeaderNames, report: Report) -> TableRows:
    """Return the objects. The columns are the keys of the first of them, and those in the first lines."""
    objects = json_objects(content.lines, report)
    first = next(objects, None)
    if first is None:
        return TableRows(1, (), iter(()))
    seen = json_objects(enumerate(content.head.lines, 1), Report(path=report.path), lenient=True)
    names = dict.fromkeys(name for _, record in chain([first], seen) for name in record)
    return TableRows(first[0], list(names), chain([first], objects))


def json_objects(
    lines: Iterable[Line], report: Report, *, lenient: bool = False
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the object of each line. If ``lenient``, an invalid line ends them."""
    for number, line in lines:
        if not line or line.isspace():
            report.skipped["empty lines"] += 1
            continue
        try:
            yield number, read_record(line, report.path, number, keys=())
        except InputError:
            if lenient:
                return
            raise


def json_type(value: Any) -> str:
    """Return the type of a value in the words of JSON, for messages."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    names = {"a string": str, "a list": list, "an object": dict, "a number": int | float}
    return next((name for name, kind in names.items() if isinstance(value, kind)), type(value).__name__)


def read_record(line: str, path: str, number: int, *, keys: Sequence[str] = ("text",)) -> dict[str, Any]:
    """Return the JSON object of one line. It must have a text under each of ``keys``."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError also for a number with too many digits
        raise InputError(f"invalid JSON object: {error}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise InputError(f"expected a JSON object, got {json_type(record)}", path=path, line=number)
    for key in keys:
        if key not in record:
            keys_here = ", ".join(map(repr, record)) or "none"
            raise InputError(f"no key {key!r}", path=path, line=number, fix=f"The object's keys: {keys_here}")
        if not isinstance(record[key], str):
            found_type = json_type(record[key])
            raise InputError(f"expected a string under {key!r}, got {found_type}", path=path, line=number)
        if not is_utf8(record[key]):
            raise InputError(f"lone surrogate in the text under {key!r}", path=path, line=number)
    found: dict[str, Any] = record
    return found


def json_line(record: Mapping[str, Any]) -> str:
    r"""Return a record as one line. A lone surrogate, which UTF-8 cannot encode, is escaped as ``\uXXXX``."""
    line = json.dumps(record, ensure_ascii=False)
    return (line if is_utf8(line) else json.dumps(record)) + "\n"


def _peek(head: FileHead) -> Mapping[str, Any] | None:
    if head.record is None or None not in head.record.values():
        return head.record
    return first_row(row for _, row in json_objects(enumerate(head.lines, 1), Report(), lenient=True))


ROWS = (
    RowFormat(
        name="jsonl",
        description="one JSON object per line",
        suffixes=(".jsonl", ".ndjson"),
        peek=_peek,
        read=_read,
        write=lambda rows: map(json_line, rows),
    ),
)
