"""The worker of all engines: loads the model once, then turns shards into parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from gonie.bulk.folder import bad_name, part_name
from gonie.bulk.input_columns import InputColumns
from gonie.bulk.job import BulkJob
from gonie.bulk.parts import PartRow, part_writer, write_bad
from gonie.bulk.pieces import Shard
from gonie.bulk.plan import InputFile
from gonie.bulk.rows import BadRow, RowReader
from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.runtime.groups import MOST


class WorkOrder(NamedTuple):
    """The input of a worker: the job, the files relative to ``root``, and the folder for the parts.

    ``root`` and ``folder`` are absolute, since a worker may run in another folder or on another machine.
    ``inputs`` are the columns of the files, which Parquet parts have.
    """

    job: BulkJob
    sources: Sequence[InputFile]
    root: Path
    folder: Path
    inputs: InputColumns | None = None


class ShardResult(NamedTuple):
    """The result of a shard whose part is written: its counts of rows, tokens, invalid rows and notes.

    ``renamed`` counts the rows with each field of the input that got another name.
    """

    shard: int
    rows: int
    tokens: int
    bad: int
    noted: int
    size: int
    renamed: Mapping[str, int] = MappingProxyType({})


class BulkEngine(Protocol):
    """Distributes shards to workers."""

    def __call__(self, order: WorkOrder, shards: Sequence[Shard]) -> Generator[ShardResult, None, None]:
        """Yield the result of each shard when it is done. Each worker has at most one shard at a time."""


class ShardWorker:
    """Reads a shard, predicts and writes its part, with only one batch of rows in memory."""

    def __init__(self, order: WorkOrder) -> None:
        self._folder, self._output = order.folder, order.job.output
        self._answer = order.job.answering()
        self._fields = order.job.returned_fields()
        self._write = part_writer(order.job, self._fields, order.inputs)
        self._read = RowReader(order.sources, columns=order.job.columns, root=order.root)

    def __call__(self, shard: Shard) -> ShardResult:
        """Write the part of a shard, and its invalid rows before it, so that a finished part is complete."""
        bad: list[BadRow] = []
        counts: Counter[str] = Counter()

        def reject(row: TextRow, error: InputError) -> None:
            bad.append(BadRow.of(row.file, row.number, error, "\t".join(row.texts), row.fields))

        def rows() -> Iterator[PartRow]:
            for answered in self._answer(self._rows(shard, bad), reject, first=MOST):
                counts.update(rows=1, tokens=answered.tokens, noted=bool(answered.notes))
                yield PartRow(answered, self._answer.record(answered))
            write_bad(self._folder / bad_name(shard.number), bad)

        self._fields.renamed.clear()
        self._write(self._folder / part_name(shard.number, self._output), rows())
        return ShardResult(
            shard=shard.number,
            rows=counts["rows"],
            tokens=counts["tokens"],
            bad=len(bad),
            noted=counts["noted"],
            size=shard.size,
            renamed=dict(self._fields.renamed),
        )

    def _rows(self, shard: Shard, bad: list[BadRow]) -> Iterator[TextRow]:
        """Yield the valid rows of a shard, and append the others to ``bad``."""
        for piece in shard.pieces:
            for row in self._read(piece):
                if isinstance(row, TextRow):
                    yield row
                else:
                    bad.append(row)
