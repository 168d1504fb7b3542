"""The relation extraction file of KLUE: the relation between the subject and the object of a sentence.

    [{"guid": "klue-re-v1_train_00000", "sentence": "서울은 한국의 수도다.",
      "subject_entity": {"word": "한국", "start_idx": 4, "end_idx": 5, "type": "LOC"},
      "object_entity": {"word": "서울", "start_idx": 0, "end_idx": 1, "type": "LOC"},
      "label": "loc:capital", "source": "wikipedia"}, …]

``end_idx`` is the last character. The two entities become marks of the text. The same columns can be in
JSONL, Parquet and Arrow files, as on the Hugging Face hub, and in CSV, where the entities are written as
text.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import LabelledFormat, Row
from gonie.formats.json_list import write_objects
from gonie.formats.nested_tables import peek_rows, read_rows
from gonie.formats.spans import check_span
from gonie.formats.tagged_rows import row_text
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions, split_labels
from gonie.text.marks import mark_words, with_marks
from gonie.text.report import Report
from gonie.text.types import Span

MARKS = ("subj", "obj")
"""The marks of the subject and of the object, unless ``data.marks`` names them."""
SENTENCE = "sentence"
ENTITIES = ("subject_entity", "object_entity")


def _read(content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield each sentence with its two marks, and its relation."""
    names = options.marks or MARKS
    if len(names) != len(ENTITIES):
        raise InputError(
            f"expected two marks, for the subject and the object, got {', '.join(names)}",
            path=report.path,
            fix=f"--set 'data.marks={json.dumps(MARKS)}'",
        )
    for line, row in read_rows(content, report).rows:
        text = row_text(row, SENTENCE, report.path, line)
        signs = [sign for name in names for sign in mark_words(name) if sign in text]
        if signs:
            raise InputError(f"the sentence contains the mark {signs[0]}", path=report.path, line=line)
        marks = []
        for key, name in zip(ENTITIES, names, strict=True):
            start, end = _place((line, row), key, text, report)
            marks.append(Span(start, end, name, text[start:end]))
        yield LabelledRow(line, with_marks(text, marks), _relation(row, options, report, line))


def _place(placed: Row, key: str, text: str, report: Report) -> tuple[int, int]:
    """Return the offsets of an entity, where its word must be."""
    line, row = placed
    entity = _entity(row.get(key))
    if entity is None:
        raise InputError(f"no entity under {key!r}", path=report.path, line=line)
    last = entity.get("end_idx")
    after = last + 1 if type(last) is int else last
    start, end = check_span(entity.get("start_idx"), after, text, path=report.path, line=line)
    if text[start:end] != entity.get("word"):
        raise InputError(
            f"the {key} is {entity.get('word')!r}, but characters {start} to {last} are {text[start:end]!r}",
            path=report.path,
            line=line,
            fix="start_idx and end_idx are the first and the last character",
        )
    if entity.get("type"):
        report.noticed["types of entities that are not used"] += 1
    return start, end


def _entity(value: object) -> Mapping[str, Any] | None:
    """Return an entity, which tables without nested cells have as text, or None."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = ast.literal_eval(value)
    return value if isinstance(value, dict) else None


def _relation(
    row: Mapping[str, Any], options: TextOptions, report: Report, line: int
) -> tuple[str, ...] | None:
    column = options.label_column if isinstance(options.label_column, str) else "label"
    value = row.get(column)
    if value is not None and not isinstance(value, str):
        raise InputError(f"the label under {column!r} is not a text: {value!r}", path=report.path, line=line)
    return split_labels(value or "", options, path=report.path, line=line)


def _write(texts: Iterable[LabelledText]) -> Iterator[str]:
    return write_objects(_record(number, text) for number, text in enumerate(texts))


def _record(number: int, text: LabelledText) -> dict[str, Any]:
    if len(text.marks) != len(ENTITIES) or len(text.labels) != 1:
        raise InputError(
            f"klue-re stores two marks and one label per text, not {len(text.marks)} and {len(text.labels)}",
            path=text.path or None,
            line=text.line,
            fix="Write jsonl instead",
        )
    subject = next((mark for mark in text.marks if mark.label in (MARKS[0], "e1")), text.marks[0])
    other = next(mark for mark in text.marks if mark is not subject)
    entities = {
        key: {"word": mark.text, "start_idx": mark.start, "end_idx": mark.end - 1}
        for key, mark in zip(ENTITIES, (subject, other), strict=True)
    }
    return {"guid": f"gonie-re_{number:05d}", SENTENCE: text.text, **entities, "label": text.labels[0]}


def _recognise(head: FileHead) -> str | None:
    first = peek_rows(head)
    fits = first is not None and all(_entity(first.row.get(key)) is not None for key in ENTITIES)
    return f"it has the columns {' and '.join(ENTITIES)}" if fits else None


LABELLED = (
    LabelledFormat(
        name="klue-re",
        description="KLUE's relations: sentences with a subject and an object",
        read=_read,
        write=_write,
        recognise=_recognise,
        has_ids=True,
        rank=1,
        marks=MARKS,
    ),
)
