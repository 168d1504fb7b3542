"""Shards: every piece once, in order, small files together, none too large."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gonie.bulk.pieces import FilePiece
from gonie.bulk.shards import shards


@given(sizes=st.lists(st.integers(0, 30)), size=st.integers(1, 20))
def test_every_piece_is_in_one_shard_and_none_is_needlessly_small(sizes: list[int], size: int) -> None:
    pieces = [FilePiece(number, 0, 1, number, held) for number, held in enumerate(sizes)]
    made = list(shards(pieces, size=size))
    assert [piece for shard in made for piece in shard.pieces] == pieces
    assert [shard.number for shard in made] == list(range(len(made)))
    for shard, after in pairwise(made):
        assert shard.size + after.pieces[0].size > size
    assert all(shard.size <= size or len(shard.pieces) == 1 for shard in made)


def test_a_shard_counts_what_is_in_it() -> None:
    (shard,) = shards([FilePiece(0, 0, 1, 3, 10), FilePiece(1, 0, 1, 4, 20)], size=100)
    assert (shard.rows, shard.size) == (7, 30)
