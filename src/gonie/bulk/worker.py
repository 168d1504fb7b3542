"""A worker: loads the model once, then turns shards into parts. Every engine runs the same one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from gonie.bulk.folder import bad_name, part_name
from gonie.bulk.job import BulkJob
from gonie.bulk.parts import PartRow, part_writer, write_bad
from gonie.bulk.pieces import Shard
from gonie.bulk.plan import InputFile
from gonie.bulk.rows import BadRow, RowReader
from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.runtime.groups import MOST


class Order(NamedTuple):
    """All that a worker must know: the job, its files, which are named from ``root``, and where parts go.

    A worker may run in another folder or on another machine: ``root`` and ``folder`` are absolute.
    """

    job: BulkJob
    sources: Sequence[InputFile]
    root: Path
    folder: Path


class Done(NamedTuple):
    """What became of a shard: its part is written."""

    shard: int
    rows: int
    tokens: int
    bad: int
    noted: int
    size: int


class BulkEngine(Protocol):
    """Sees to it that every shard meets a worker. It chooses who works on a shard, never how."""

    def __call__(self, order: Order, shards: Sequence[Shard]) -> Generator[Done, None, None]:
        """What became of each shard, as it is done; never more shards at work than there are workers."""


class ShardWorker:
    """Reads a shard, asks the model, writes the part; in memory is what the model looks at together."""

    def __init__(self, order: Order) -> None:
        self._folder, self._output = order.folder, order.job.output
        self._answer = order.job.answering()
        self._write = part_writer(order.job)
        self._read = RowReader(order.sources, columns=order.job.columns, root=order.root)

    def __call__(self, shard: Shard) -> Done:
        """Write the part of a shard, its bad rows before it: a part that is there has all its rows."""
        bad: list[BadRow] = []
        counts: Counter[str] = Counter()

        def reject(row: TextRow, error: InputError) -> None:
            bad.append(BadRow.of(row.file, row.number, error, "\t".join(row.texts)))

        def rows() -> Iterator[PartRow]:
            for answered in self._answer(self._rows(shard, bad), reject, first=MOST):
                counts.update(rows=1, tokens=answered.tokens, noted=bool(answered.notes))
                place = answered.row.place
                # in front, and not those of the object that was given
                yield PartRow(answered, place | self._answer.record(answered) | place)
            write_bad(self._folder / bad_name(shard.number), bad)

        self._write(self._folder / part_name(shard.number, self._output), rows())
        return Done(
            shard=shard.number,
            rows=counts["rows"],
            tokens=counts["tokens"],
            bad=len(bad),
            noted=counts["noted"],
            size=shard.size,
        )

    def _rows(self, shard: Shard, bad: list[BadRow]) -> Iterator[TextRow]:
        """The good rows of a shard, the others set aside."""
        for piece in shard.pieces:
            for row in self._read(piece):
                if isinstance(row, TextRow):
                    yield row
                else:
                    bad.append(row)
