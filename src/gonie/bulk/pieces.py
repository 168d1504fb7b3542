"""Pieces of files: stretches of rows that can be read by themselves, small enough to be one unit of work.

Plain text and JSONL are cut at line ends, and a piece is read from its first byte on. A compressed file
cannot be entered in the middle, a Parquet file only at its row groups: there, a piece is found by counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from gonie.formats.table import TEXT_FORMATS
from gonie.system.parquet import SUFFIX as PARQUET_SUFFIX
from gonie.system.parquet import open_table
from gonie.system.raw_lines import cut_lines

PARQUET, JSONL, TEXT = "parquet", "jsonl", "text"
COMPRESSED = (".gz", ".xz")


class FilePiece(NamedTuple):
    """``rows`` rows from row ``row`` on, counted from 1, in file number ``file``: ``size`` bytes of text.

    ``at`` is where reading can begin: a byte, of Parquet a row group, 0 where only the beginning will do.
    """

    file: int
    at: int
    row: int
    rows: int
    size: int


def kind_of(path: Path) -> str:
    """The kind of a file, as its name tells it; lines of text where it tells nothing."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSED]
    last = suffixes[-1] if suffixes else ""
    if last == PARQUET_SUFFIX:
        return PARQUET
    return JSONL if last in TEXT_FORMATS[JSONL].suffixes else TEXT


def cut_file(number: int, path: Path, *, kind: str, column: str, size: int) -> Iterator[FilePiece]:
    """The pieces of one file, in order, of about ``size`` bytes each; a row is never cut."""
    if kind == PARQUET:
        with open_table(path, column=column) as table:
            yield from _cut_table(number, table.metadata, column, size)
        return
    packed = path.suffix in COMPRESSED
    for cut, after in pairwise(cut_lines(path, size=size)):
        yield FilePiece(
            number, 0 if packed else cut.byte, cut.line, after.line - cut.line, after.byte - cut.byte
        )


def _cut_table(number: int, metadata: Any, column: str, size: int) -> Iterator[FilePiece]:
    """Row groups, large ones in pieces of as many rows as have ``size`` bytes on average."""
    row = 1
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        chunks = (group.column(i) for i in range(group.num_columns))
        held = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema == column)
        step = max(1, group.num_rows * size // max(held, 1))
        for first in range(0, group.num_rows, step):
            rows = min(step, group.num_rows - first)
            yield FilePiece(number, at, row + first, rows, held * rows // group.num_rows)
        row += group.num_rows
