"""Cuts input files into pieces, and groups pieces into shards, the numbered units of work of a bulk run.

A piece is a range of rows that can be read alone. Plain text, JSONL and TSV are cut at line ends, and a piece
is read from its first byte. The header of a TSV table belongs to no piece. A compressed file can be read only
from its beginning, and a Parquet file only from a row group. There, the first row of a piece is found by
counting.

Each shard becomes one part. The same files cut with the same size always give the same shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from gonie.formats.text_rows import COMPRESSED, PARQUET, TSV, header_columns
from gonie.system.files import open_bytes
from gonie.system.parquet import open_table
from gonie.system.raw_lines import Cut, cut_lines, read_raw_lines


class FilePiece(NamedTuple):
    """``rows`` rows of file number ``file``, starting at row ``row`` (from 1), with ``size`` bytes of text.

    ``at`` is where reading starts: a byte offset, a Parquet row group, or 0 for a compressed file.
    """

    file: int
    at: int
    row: int
    rows: int
    size: int


def cut_file(number: int, path: Path, *, kind: str, columns: Sequence[str], size: int) -> Iterator[FilePiece]:
    """Yield the pieces of one file in order, of about ``size`` bytes each. A row is never split."""
    if kind == PARQUET:
        with open_table(path, columns=columns) as table:
            yield from _cut_table(number, table.metadata, columns, size)
        return
    compressed = path.suffix in COMPRESSED
    cuts = cut_lines(path, size=size)
    if kind == TSV:
        read_header(path, str(path), columns)  # refuses a table without the columns before any work
        cuts = _below_header(path, cuts)
    for cut, after in pairwise(cuts):
        yield FilePiece(
            number, 0 if compressed else cut.byte, cut.line, after.line - cut.line, after.byte - cut.byte
        )


def _cut_table(number: int, metadata: Any, columns: Sequence[str], size: int) -> Iterator[FilePiece]:
    """Yield the row groups, cutting large ones into pieces of ``size`` bytes on average."""
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


def read_header(path: Path, name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the column names in the first line of a TSV table. ``name`` is its name in messages."""
    first = next(read_raw_lines(path), None)
    names = tuple(("" if first is None else first.text()).split("\t"))
    header_columns(name, names, columns)
    return names


def _below_header(path: Path, cuts: Sequence[Cut]) -> list[Cut]:
    """Return the cuts of a table, the first of them below its header."""
    with open_bytes(path) as stream:
        second = Cut(len(stream.readline()), 2)
    return [second, *(cut for cut in cuts if cut.line > second.line)]


class Shard(NamedTuple):
    """Pieces of one or more files, in the order of the input."""

    number: int
    pieces: tuple[FilePiece, ...]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def size(self) -> int:
        """The approximate number of bytes of text."""
        return sum(piece.size for piece in self.pieces)


def shards(pieces: Iterable[FilePiece], *, size: int) -> Iterator[Shard]:
    """Yield shards of consecutive pieces, of at most ``size`` bytes or a single piece."""
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
