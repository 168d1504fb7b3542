"""Input files cut into pieces, and pieces gathered into shards: the numbered units of work of a bulk run.

A piece is a stretch of rows that can be read by itself. Plain text and JSONL are cut at line ends, and a
piece is read from its first byte on. A compressed file cannot be entered in the middle, a Parquet file only
at its row groups: there, a piece is found by counting.

Each shard becomes one part. Shard N is the same rows whenever the same files are cut with the same size,
whoever works on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from gonie.formats.text_rows import COMPRESSED, PARQUET
from gonie.system.parquet import open_table
from gonie.system.raw_lines import cut_lines


class FilePiece(NamedTuple):
    """``rows`` rows from row ``row`` on, counted from 1, in file number ``file``: ``size`` bytes of text.

    ``at`` is where reading can begin: a byte, of Parquet a row group, 0 where only the beginning will do.
    """

    file: int
    at: int
    row: int
    rows: int
    size: int


def cut_file(number: int, path: Path, *, kind: str, columns: Sequence[str], size: int) -> Iterator[FilePiece]:
    """The pieces of one file, in order, of about ``size`` bytes each; a row is never cut."""
    if kind == PARQUET:
        with open_table(path, columns=columns) as table:
            yield from _cut_table(number, table.metadata, columns, size)
        return
    packed = path.suffix in COMPRESSED
    for cut, after in pairwise(cut_lines(path, size=size)):
        yield FilePiece(
            number, 0 if packed else cut.byte, cut.line, after.line - cut.line, after.byte - cut.byte
        )


def _cut_table(number: int, metadata: Any, columns: Sequence[str], size: int) -> Iterator[FilePiece]:
    """Row groups, large ones in pieces of as many rows as have ``size`` bytes on average."""
    row = 1
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        chunks = (group.column(i) for i in range(group.num_columns))
        held = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in columns)
        step = max(1, group.num_rows * size // max(held, 1))
        for first in range(0, group.num_rows, step):
            rows = min(step, group.num_rows - first)
            yield FilePiece(number, at, row + first, rows, held * rows // group.num_rows)
        row += group.num_rows


class Shard(NamedTuple):
    """Pieces of one or more files, in the order of the input."""

    number: int
    pieces: tuple[FilePiece, ...]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def size(self) -> int:
        """About how many bytes of text."""
        return sum(piece.size for piece in self.pieces)


def shards(pieces: Iterable[FilePiece], *, size: int) -> Iterator[Shard]:
    """Pieces in their order, those of small files together until they have ``size`` bytes."""
    held: list[FilePiece] = []
    number = total = 0
    for piece in pieces:
        if held and total + piece.size > size:
            yield Shard(number, tuple(held))
            held, total, number = [], 0, number + 1
        held.append(piece)
        total += piece.size
    if held:
        yield Shard(number, tuple(held))
