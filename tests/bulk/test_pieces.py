"""Pieces of files: every row in one of them, whatever the kind of file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.bulk.pieces import FilePiece, cut_file, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a", "text"),
        ("a.jsonl", "jsonl"),
        ("a.b.ndjson.gz", "jsonl"),
        ("a.parquet", "parquet"),
        ("jsonl.xz", "text"),
    ],
)
def test_the_name_tells_the_kind(name: str, kind: str) -> None:
    assert kind_of(Path(name)) == kind


def test_lines_are_cut_by_bytes_and_where_that_is_no_use_by_rows(tmp_path: Path) -> None:
    content = b"one\ntwo\nthree\nfour"
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    plain = list(cut_file(0, tmp_path / "a", kind="text", column="text", size=6))
    assert plain == [FilePiece(0, 0, 1, 2, 8), FilePiece(0, 8, 3, 1, 6), FilePiece(0, 14, 4, 1, 4)]
    packed = list(cut_file(0, tmp_path / "a.gz", kind="text", column="text", size=6))
    assert packed == [piece._replace(at=0) for piece in plain]


def test_row_groups_of_any_size_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text number {i}" for i in range(25)]}), path, row_group_size=10)
    pieces = list(cut_file(3, path, kind="parquet", column="text", size=50))
    assert [row for piece in pieces for row in range(piece.row, piece.row + piece.rows)] == list(range(1, 26))
    assert {piece.at for piece in pieces} == {0, 1, 2}
    assert len(pieces) > 3
    assert {piece.file for piece in pieces} == {3}


@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_an_empty_file_has_no_piece(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"")
    if kind == "parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert list(cut_file(0, path, kind=kind, column="text", size=5)) == []
