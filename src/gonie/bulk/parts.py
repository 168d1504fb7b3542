"""Parts on disk: the answers of one shard as JSON lines or as Parquet, whole or not at all.

Parquet has one schema for each task, whatever the input had:

    file string, row int64, id string, text string, the task's own columns (``Records.arrow_columns``),
    notes list<string>
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from gonie.bulk.job import BulkJob
from gonie.bulk.rows import BadRow
from gonie.formats.jsonl import json_line
from gonie.system.files import atomic_file, atomic_path, is_utf8
from gonie.system.parquet import ID, import_parquet
from gonie.tasks.records import Answered

ROWS = 1000
"""Rows of a Parquet part that are in memory at a time."""


class PartRow(NamedTuple):
    """An answer, and its record with the place of its row."""

    answered: Answered
    record: dict[str, Any]


Write = Callable[[Path, Iterable[PartRow]], None]


def part_writer(job: BulkJob) -> Write:
    """What writes the parts of a job."""
    if job.output == "jsonl":
        return write_lines
    parquet = import_parquet(purpose="writing Parquet")
    arrow = import_module("pyarrow")
    place = {"file": arrow.string(), "row": arrow.int64(), ID: arrow.string(), "text": arrow.string()}
    own, notes = job.records.arrow_columns(arrow, job.options), {"notes": arrow.list_(arrow.string())}
    schema = arrow.schema({**place, **own, **notes})

    def cells(row: PartRow) -> dict[str, Any]:
        return {**job.records.cells(*row), ID: _id(row.record.get(ID))}

    def write(path: Path, rows: Iterable[PartRow]) -> None:
        left = iter(rows)
        with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
            while some := [cells(row) for row in islice(left, ROWS)]:
                writer.write_table(arrow.Table.from_pylist(some, schema=schema))

    return write


def write_lines(path: Path, rows: Iterable[PartRow]) -> None:
    """A JSON object a line."""
    with atomic_file(path) as file:
        file.writelines(json_line(row.record) for row in rows)


def write_bad(path: Path, rows: Sequence[BadRow]) -> None:
    """The rows that were set aside, if any; those of a try that was cut short are replaced."""
    if not rows:
        path.unlink(missing_ok=True)
        return
    with atomic_file(path) as file:
        file.writelines(json_line(row._asdict()) for row in rows)


def _id(value: Any) -> str | None:
    """An id as text: a string as it is, anything else as JSON."""
    if value is None or (isinstance(value, str) and is_utf8(value)):
        return value
    return json.dumps(value)
