"""The JSONL exports of doccano for sequence labelling, with or without relations.

    {"id": 1, "text": "George is happy", "label": [[0, 6, "PER"]], "Comments": []}
    {"id": 1, "text": "George is happy", "relations": [],
     "entities": [{"id": 0, "label": "PER", "start_offset": 0, "end_offset": 6}]}

Old versions have ``labels`` for ``label``, some have ``data`` for ``text``. Offsets are code points.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import ID, Content, FileHead
from gonie.formats.format import TaggedFormat
from gonie.formats.json_list import objects_of
from gonie.formats.jsonl import json_line, json_objects
from gonie.formats.meta import row_meta
from gonie.formats.spans import AnnotatedText, annotated_texts, tagged_sentences
from gonie.formats.tagged_rows import SPAN_LABELS, TEXT, annotated, are_spans
from gonie.text.report import Report
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

ENTITIES, RELATIONS = "entities", "relations"
COMMENTS = ("Comments", "comments")
_LISTED = (*SPAN_LABELS, ENTITIES)
_COUNTED = {RELATIONS: "relations", "cats": "labels of texts", **dict.fromkeys(COMMENTS, "comments")}


def _annotated(content: Content, names: Collection[str], report: Report) -> Iterator[AnnotatedText]:
    """Yield the text of each record with its entities. Relations and comments are counted."""
    listed = objects_of(content.head.document)
    records = enumerate(listed, 1) if listed is not None else json_objects(content.lines, report)
    for line, record in records:
        if not isinstance(record, dict):
            raise InputError("expected a JSON object", path=report.path, line=line)
        for key, what in _COUNTED.items():
            number = len(record[key]) if isinstance(record.get(key), list) else 0
            if number:
                report.skipped[what] += number
        known = any(are_spans(record.get(key)) for key in _LISTED)
        if not known and any(record.get(key) for key in _LISTED):
            raise InputError(
                "the labels of this record are not spans",
                path=report.path,
                line=line,
                fix="Labels of whole texts are read by gonie train classify",
            )
        meta = row_meta(record, names, report)
        yield annotated(_with_text(record), report.path, line, meta)


def _with_text(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**record, TEXT: record["data"]} if TEXT not in record and "data" in record else record


def _recognise(head: FileHead) -> str | None:
    records = objects_of(head.document) or head.records
    for record in records:
        if not isinstance(record, dict) or not isinstance(_with_text(record).get(TEXT), str):
            return None
        key = next((key for key in _LISTED if _has_spans(record, key)), None)
        if key is not None:
            return f"a text and spans under {key!r}, as doccano writes them"
    return None


def _has_spans(record: Mapping[str, Any], key: str) -> bool:
    values = record.get(key)
    if not isinstance(values, list) or not values or not are_spans(values):
        return False
    first = values[0]
    if isinstance(first, dict):
        return "start_offset" in first
    own = key in SPAN_LABELS or not record.keys().isdisjoint(COMMENTS)
    return own and len(first) == 3 and isinstance(first[2], str)


def _write(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    for number, each in enumerate(annotated_texts(sentences, scheme, format="doccano"), 1):
        spans: Sequence[Any] | None = each.spans
        gold = {} if spans is None else {SPAN_LABELS[0]: [list(span) for span in spans]}
        yield json_line({ID: number if each.id is None else each.id, TEXT: each.text} | gold)


TAGGED = TaggedFormat(
    name="doccano",
    description="doccano's JSONL with spans",
    read=lambda content, options, report: tagged_sentences(
        _annotated(content, options.meta, report), options.tokenizer, report
    ),
    write=_write,
    recognise=_recognise,
    has_ids=True,
    keeps_ids=True,
    rank=1,
    stores_texts=True,
)
