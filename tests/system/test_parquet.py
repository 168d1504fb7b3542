"""Texts in Parquet files: each row with its number and id, from any row group on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.errors import InputError, MissingExtraError
from gonie.system import parquet
from gonie.system.parquet import ParquetCell, read_cells


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_rows_are_numbered_from_any_group_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 3)
    path = table(
        tmp_path / "a.parquet", text=["a", None, "c", "d", "e"], id=[10, 20, 30, 40, 50], more=[1] * 5
    )
    whole = [
        ParquetCell(1, ("a",), 10),
        ParquetCell(2, (None,), 20),
        ParquetCell(3, ("c",), 30),
        ParquetCell(4, ("d",), 40),
        ParquetCell(5, ("e",), 50),
    ]
    assert list(read_cells(path)) == whole
    assert list(read_cells(path, group=1)) == whole[2:]
    assert list(read_cells(path, group=2)) == whole[4:]


def test_a_table_may_have_no_id_column(tmp_path: Path) -> None:
    assert list(read_cells(table(tmp_path / "a.parquet", body=["x"]), columns=["body"])) == [
        ParquetCell(1, ("x",))
    ]
    assert list(read_cells(table(tmp_path / "b.parquet", id=["x"]), columns=["id"])) == [
        ParquetCell(1, ("x",))
    ]


def test_only_texts_with_invalid_utf8_are_returned_as_bytes(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"\xff\xfea")]
    )
    found = [cell.texts[0] for cell in read_cells(table(tmp_path / "a.parquet", text=broken))]
    assert found == [b"\xff\xfe", "a"]


def test_files_without_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'text'.*Choose a text column.*n \(int64\)"):
        next(read_cells(table(tmp_path / "a.parquet", n=[1])))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="damaged Parquet file"):
        next(read_cells(tmp_path / "b.parquet"))
    with pytest.raises(InputError, match="file not found"):
        next(read_cells(tmp_path / "none.parquet"))


def test_without_pyarrow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"needs pyarrow.*gonie\[ray\]"):
        next(read_cells(tmp_path / "a.parquet"))
