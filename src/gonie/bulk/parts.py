"""Writers of parts: the predictions of one shard as JSON lines or Parquet, written atomically.

The Parquet schema depends only on the task, not on the input:

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

BATCH_ROWS = 1000
"""Rows of a Parquet part in memory at a time."""


class PartRow(NamedTuple):
    """A prediction, and its record with the file and row it is from."""

    answered: Answered
    record: dict[str, Any]


Write = Callable[[Path, Iterable[PartRow]], None]


def part_writer(job: BulkJob) -> Write:
    """Return the function that writes the parts of a job."""
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
            while some := [cells(row) for row in islice(left, BATCH_ROWS)]:
                writer.write_table(arrow.Table.from_pylist(some, schema=schema))

    return write


def write_lines(path: Path, rows: Iterable[PartRow]) -> None:
    """Write one JSON object per line."""
    with atomic_file(path) as file:
        file.writelines(json_line(row.record) for row in rows)


def write_bad(path: Path, rows: Sequence[BadRow]) -> None:
    """Write the invalid rows, replacing those of an interrupted attempt. Without any, remove the file."""
    if not rows:
        path.unlink(missing_ok=True)
        return
    with atomic_file(path) as file:
        file.writelines(json_line(row._asdict()) for row in rows)


def _id(value: Any) -> str | None:
    """Return an id as text: a string unchanged, anything else as JSON."""
    if value is None or (isinstance(value, str) and is_utf8(value)):
        return value
    return json.dumps(value)
