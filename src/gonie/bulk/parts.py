"""Parts on disk: the answers of one shard as JSON lines or as Parquet, whole or not at all.

Parquet has one schema a task, whatever the input had:

    file string, row int64, id string, text string, notes list<string>
    tag         spans list<{start, end int64, label, text string, score double}>
                tokens list<{start, end int64, text, tag string, score double, morphemes list<{form, tag}>}>
                nbest list<list<{score double, tags list<string>, spans list<{start, end, label, text}>}>>,
                where candidates were asked for: for each sentence, best first
    classify    label string, score double, scores list<{label string, score double}>, labels list<string>
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from gonie.bulk.answers import BulkAnswer
from gonie.bulk.job import BulkJob
from gonie.bulk.rows import BadRow
from gonie.formats.results import json_line
from gonie.system.files import atomic_file, atomic_path, is_utf8
from gonie.system.parquet import ID, import_parquet

ROWS = 1000
"""Rows of a Parquet part that are in memory at a time."""

Write = Callable[[Path, Iterable[BulkAnswer]], None]


def part_writer(job: BulkJob) -> Write:
    """What writes the parts of a job."""
    if job.output == "jsonl":
        return write_lines
    parquet = import_parquet(purpose="writing Parquet")
    schema = _schema(job)

    def write(path: Path, answers: Iterable[BulkAnswer]) -> None:
        left = iter(answers)
        with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
            while rows := [_cells(answer) for answer in islice(left, ROWS)]:
                writer.write_table(_arrow().Table.from_pylist(rows, schema=schema))

    return write


def write_lines(path: Path, answers: Iterable[BulkAnswer]) -> None:
    """A JSON object a line."""
    with atomic_file(path) as file:
        file.writelines(json_line(answer.record) for answer in answers)


def write_bad(path: Path, rows: Sequence[BadRow]) -> None:
    """The rows that were set aside, if any; those of a try that was cut short are replaced."""
    if not rows:
        path.unlink(missing_ok=True)
        return
    with atomic_file(path) as file:
        file.writelines(json_line(row._asdict()) for row in rows)


def _cells(answer: BulkAnswer) -> dict[str, Any]:
    """A record as a row of the schema."""
    cells = {**answer.record, "text": answer.text, ID: _id(answer.record.get(ID))}
    if isinstance(scores := cells.get("scores"), Mapping):
        cells["scores"] = [{"label": label, "score": score} for label, score in scores.items()]
        cells.setdefault("labels", [cells["label"]])
    return cells


def _id(value: Any) -> str | None:
    """An id as text: a string as it is, anything else as JSON."""
    if value is None or (isinstance(value, str) and is_utf8(value)):
        return value
    return json.dumps(value)


def _arrow() -> Any:
    return import_module("pyarrow")


def _schema(job: BulkJob) -> Any:
    arrow = _arrow()
    place = {"file": arrow.string(), "row": arrow.int64(), ID: arrow.string(), "text": arrow.string()}
    own = _labels(arrow) if job.task == "classify" else _tags(arrow, nbest=job.nbest is not None)
    return arrow.schema({**place, **dict(own), "notes": arrow.list_(arrow.string())})


def _labels(arrow: Any) -> Iterator[tuple[str, Any]]:
    """The columns that parts of a classifier have."""
    text, score = arrow.string(), arrow.float64()
    yield from {"label": text, "score": score}.items()
    yield "scores", arrow.list_(arrow.struct({"label": text, "score": score}))
    yield "labels", arrow.list_(text)


def _tags(arrow: Any, *, nbest: bool) -> Iterator[tuple[str, Any]]:
    """The columns that parts of a tagger have."""
    text, score = arrow.string(), arrow.float64()
    offsets = {"start": arrow.int64(), "end": arrow.int64()}
    morphemes = arrow.list_(arrow.struct({"form": text, "tag": text}))
    span = {**offsets, "label": text, "text": text}
    token = {**offsets, "text": text, "tag": text, "score": score, "morphemes": morphemes}
    yield "spans", arrow.list_(arrow.struct({**span, "score": score}))
    yield "tokens", arrow.list_(arrow.struct(token))
    if nbest:
        spans = arrow.list_(arrow.struct(span))
        candidate = arrow.struct({"score": score, "tags": arrow.list_(text), "spans": spans})
        yield "nbest", arrow.list_(arrow.list_(candidate))
