"""Labelled texts as JSONL: one object per line, with keys for text and label.

    {"text": "what a film", "label": "positive"}
    {"text": "fast, but loud", "labels": ["speed", "noise"]}

A label is a string, an integer or a boolean. A list of them is several labels, which may also be under the
plural of the label key. Other keys are ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from gonie.errors import InputError
from gonie.formats.format import LabelledFormat
from gonie.formats.jsonl import read_record, recognise_object
from gonie.system.files import Line, is_utf8
from gonie.text.labelled_text import LabelledRow, TextOptions, check_unlabelled, split_labels
from gonie.text.report import Report


def read_records(lines: Iterable[Line], options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield the text and the labels of each object."""
    for number, line in lines:
        if not line or line.isspace():
            report.skipped["empty lines"] += 1
            continue
        record = read_record(line, report.path, number, keys=(options.text_column,))
        text: str = record[options.text_column]
        labels = _labels(record, options, report.path, number) if text.strip() else ()
        yield LabelledRow(number, text, labels)


def _labels(record: dict[str, Any], options: TextOptions, path: str, line: int) -> tuple[str, ...] | None:
    key = options.label_column
    if key is None:
        return ()
    value = record.get(key, record.get(f"{key}s"))
    if _is_missing(value) and (key in record or f"{key}s" in record):
        check_unlabelled(options, path=path, line=line)
        return None
    if isinstance(value, list) and all(map(_is_label, value)):
        return tuple(dict.fromkeys(map(_named, value)))
    if _is_label(value):
        return split_labels(_named(value), options, path=path, line=line)
    if value is None:
        raise InputError(
            f"no label under {key!r} or {f'{key}s'!r}",
            path=path,
            line=line,
            fix=f"Set the label column to one of the object's keys: {', '.join(map(repr, record))}",
        )
    raise InputError(
        f"invalid label: {json.dumps(value, ensure_ascii=False)[:200]}",
        path=path,
        line=line,
        fix="A label is a non-empty string, an integer, a boolean, or a list of them",
    )


def _is_missing(value: object) -> bool:
    """Return whether a value stands for no label: null, NaN or an empty string."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_label(value: object) -> TypeGuard[str | int]:
    return isinstance(value, int) or (isinstance(value, str) and bool(value.strip()) and is_utf8(value))


def _named(value: str | int) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value)


LABELLED = (
    LabelledFormat(
        name="jsonl",
        description="one JSON object per line",
        read=read_records,
        suffixes=(".jsonl", ".ndjson"),
        recognise=lambda first, options: recognise_object([first]),
        rank=0,
    ),
)
