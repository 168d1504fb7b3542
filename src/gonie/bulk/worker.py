"""A worker: loads the model once, then turns shards into parts. Both engines run the same one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gonie.bulk.answers import BulkAnswer, load_answering
from gonie.bulk.folder import bad_name, part_name
from gonie.bulk.job import BulkJob
from gonie.bulk.parts import part_writer, write_bad
from gonie.bulk.plan import InputFile
from gonie.bulk.rows import BadRow, InputRow, RowReader
from gonie.bulk.shards import Shard


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


class ShardWorker:
    """Reads a shard, asks the model, writes the part; in memory is what the model looks at together."""

    def __init__(self, order: Order) -> None:
        self._folder, self._output = order.folder, order.job.output
        self._answer = load_answering(order.job)
        self._write = part_writer(order.job)
        self._read = RowReader(order.sources, column=order.job.column, root=order.root)

    def __call__(self, shard: Shard) -> Done:
        """Write the part of a shard, its bad rows before it: a part that is there has all its rows."""
        bad: list[BadRow] = []
        counts: Counter[str] = Counter()

        def answers() -> Iterator[BulkAnswer]:
            for answer in self._answer(self._rows(shard, bad), bad.append):
                counts.update(rows=1, tokens=answer.tokens, noted=answer.noted)
                yield answer
            write_bad(self._folder / bad_name(shard.number), bad)

        self._write(self._folder / part_name(shard.number, self._output), answers())
        return Done(
            shard=shard.number,
            rows=counts["rows"],
            tokens=counts["tokens"],
            bad=len(bad),
            noted=counts["noted"],
            size=shard.size,
        )

    def _rows(self, shard: Shard, bad: list[BadRow]) -> Iterator[InputRow]:
        """The good rows of a shard, the others set aside."""
        for piece in shard.pieces:
            for row in self._read(piece):
                if isinstance(row, InputRow):
                    yield row
                else:
                    bad.append(row)
