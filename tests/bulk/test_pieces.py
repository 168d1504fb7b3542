"""Tests pieces and shards: every row is in exactly one, and small files share a shard."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.bulk.pieces import FilePiece, cut_file, shards


def test_text_is_cut_at_byte_offsets_and_compressed_text_at_rows(tmp_path: Path) -> None:
    content = b"one\ntwo\nthree\nfour"
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    plain = list(cut_file(0, tmp_path / "a", kind="text", columns=["text"], size=6))
    assert plain == [FilePiece(0, 0, 1, 2, 8), FilePiece(0, 8, 3, 1, 6), FilePiece(0, 14, 4, 1, 4)]
    packed = list(cut_file(0, tmp_path / "a.gz", kind="text", columns=["text"], size=6))
    assert packed == [piece._replace(at=0) for piece in plain]


def test_parquet_row_groups_are_cut_into_pieces(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text number {i}" for i in range(25)]}), path, row_group_size=10)
    pieces = list(cut_file(3, path, kind="parquet", columns=["text"], size=50))
    assert [row for piece in pieces for row in range(piece.row, piece.row + piece.rows)] == list(range(1, 26))
    assert {piece.at for piece in pieces} == {0, 1, 2}
    assert len(pieces) > 3
    assert {piece.file for piece in pieces} == {3}


@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_an_empty_file_has_no_pieces(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"")
    if kind == "parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert list(cut_file(0, path, kind=kind, columns=["text"], size=5)) == []


@given(sizes=st.lists(st.integers(0, 30)), size=st.integers(1, 20))
def test_every_piece_is_in_one_shard_of_the_right_size(sizes: list[int], size: int) -> None:
    pieces = [FilePiece(number, 0, 1, number, held) for number, held in enumerate(sizes)]
    made = list(shards(pieces, size=size))
    assert [piece for shard in made for piece in shard.pieces] == pieces
    assert [shard.number for shard in made] == list(range(len(made)))
    for shard, after in pairwise(made):
        assert shard.size + after.pieces[0].size > size
    assert all(shard.size <= size or len(shard.pieces) == 1 for shard in made)


def test_a_shard_counts_its_rows_and_bytes() -> None:
    (shard,) = shards([FilePiece(0, 0, 1, 3, 10), FilePiece(1, 0, 1, 4, 20)], size=100)
    assert (shard.rows, shard.size) == (7, 30)
