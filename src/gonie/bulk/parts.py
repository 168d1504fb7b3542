"""Writers of parts: the predictions of one shard as JSON lines or Parquet, written atomically.

The Parquet schema is the same for all parts of a run:

    file string, row int64, the columns of the input (``gonie.bulk.input_columns``), text string, the task's
    own columns (``Records.arrow_columns``), notes list<string>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from gonie.bulk.input_columns import InputColumns
from gonie.bulk.job import BulkJob
from gonie.bulk.rows import BadRow
from gonie.system.files import atomic_file, atomic_path
from gonie.system.parquet import import_parquet
from gonie.tasks.records import Answered, ReturnedFields

BATCH_ROWS = 1000
"""Rows of a Parquet part in memory at a time."""


class PartRow(NamedTuple):
    """A prediction, and its record without the fields of the input row."""

    answered: Answered
    record: dict[str, Any]


Write = Callable[[Path, Iterable[PartRow]], None]


def part_writer(job: BulkJob, fields: ReturnedFields, inputs: InputColumns | None = None) -> Write:
    """Return the function that writes the parts of a job. Parquet parts have the columns of ``inputs``."""
    if job.output == "jsonl":
        return lambda path, rows: write_lines(path, rows, fields)
    parquet = import_parquet(purpose="writing Parquet")
    arrow = import_module("pyarrow")
    inputs = inputs or InputColumns.of([], root=Path(), columns=job.columns, fields=fields)
    new = fields.new_names(inputs.schema.names)
    place = arrow.schema({"file": arrow.string(), "row": arrow.int64()})
    own = job.records.arrow_columns(arrow, job.options)
    answer = arrow.schema({"text": arrow.string(), **own, "notes": arrow.list_(arrow.string())})

    def table(rows: Sequence[PartRow]) -> Any:
        cells = [job.records.cells(*row) for row in rows]
        given = [row.answered.row for row in rows]
        for row in given:
            fields.renamed.update(new.keys() & row.fields.keys() if new else ())
        tables = (
            arrow.Table.from_pylist([row.place for row in given], schema=place),
            inputs.table(given, new),
            arrow.Table.from_pylist(cells, schema=answer),
        )
        names = [name for each in tables for name in each.column_names]
        return arrow.table([column for each in tables for column in each.columns], names=names)

    schema = table(()).schema

    def write(path: Path, rows: Iterable[PartRow]) -> None:
        left = iter(rows)
        with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
            while some := list(islice(left, BATCH_ROWS)):
                writer.write_table(table(some))

    return write


def write_lines(path: Path, rows: Iterable[PartRow], fields: ReturnedFields) -> None:
    """Write one JSON object per line: the place of a row, the fields of the input, and the answer."""
    with atomic_file(path) as file:
        for answered, record in rows:
            file.write(fields.line(answered.row.fields, record, answered.row.place))


def write_bad(path: Path, rows: Sequence[BadRow]) -> None:
    """Write the invalid rows, replacing those of an interrupted attempt. Without any, remove the file."""
    if not rows:
        path.unlink(missing_ok=True)
        return
    fields = ReturnedFields(("file", "row", "reason", "content"), ())
    with atomic_file(path) as file:
        for row in rows:
            place, why = {"file": row.file, "row": row.row}, {"reason": row.reason, "content": row.content}
            file.write(fields.line(row.fields, why, place))
