"""Shards: numbered units of work, each of which becomes one part.

Shard N is the same rows whenever the same files are cut with the same size, whoever works on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gonie.bulk.pieces import FilePiece


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
