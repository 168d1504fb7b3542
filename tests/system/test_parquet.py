"""Texts in Parquet files: each row with its number and its other columns, from any row group on."""

from __future__ import annotations

import json
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.errors import InputError, MissingExtraError
from gonie.system import parquet
from gonie.system.parquet import read_cells


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_rows_are_numbered_from_any_group_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 3)
    path = table(
        tmp_path / "a.parquet", text=["a", None, "c", "d", "e"], id=[10, 20, 30, 40, 50], more=[1] * 5
    )
    whole = [
        (1, ("a",), {"text": '"a"', "id": "10", "more": "1"}),
        (2, (None,), {"text": "null", "id": "20", "more": "1"}),
        (3, ("c",), {"text": '"c"', "id": "30", "more": "1"}),
        (4, ("d",), {"text": '"d"', "id": "40", "more": "1"}),
        (5, ("e",), {"text": '"e"', "id": "50", "more": "1"}),
    ]
    for group, first in ((0, 0), (1, 2), (2, 4)):
        cells = read_cells(path, group=group)
        assert [(cell.row, cell.texts, cell.fields) for cell in cells] == whole[first:]


def test_values_that_json_lacks_become_strings(tmp_path: Path) -> None:
    """Dates, decimals and nanoseconds keep all their digits, and NaN is not lost."""
    moment = pa.array([1_700_000_000_000_000_001], pa.timestamp("ns"))
    path = table(
        tmp_path / "a.parquet",
        text=["x"],
        moment=moment,
        zoned=pa.array([0], pa.timestamp("s", "Asia/Seoul")),
        day=pa.array([1], pa.date32()),
        price=pa.array([Decimal("1.10")]),
        data=pa.array([b"\xff"]),
        real=[0.1],
        no=[float("nan")],
        far=[[float("-inf"), 1.0]],
        big=pa.array([2**63 - 1]),
        kind=pa.array(["k"]).dictionary_encode(),
        deep=pa.array([[{"at": 1}]], pa.list_(pa.struct({"at": pa.timestamp("ns")}))),
        pairs=pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
        none=pa.array([None], pa.null()),
    )
    (cell,) = read_cells(path)
    assert {name: json.loads(text) for name, text in cell.fields.items()} == {
        "text": "x",
        "moment": "2023-11-14 22:13:20.000000001",
        "zoned": "1970-01-01 09:00:00.000+0900",
        "day": "1970-01-02",
        "price": "1.10",
        "data": "/w==",
        "real": 0.1,
        "no": "NaN",
        "far": ["-Infinity", 1.0],
        "big": 2**63 - 1,
        "kind": "k",
        "deep": [{"at": "1970-01-01 00:00:00.000000001"}],
        "pairs": [["a", 1]],
        "none": None,
    }


def test_large_rows_are_read_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "HELD", 10_000)
    path = table(tmp_path / "a.parquet", text=["a"] * 4, image=[os.urandom(9_000) for _ in range(4)])
    assert [(cell.row, cell.at) for cell in read_cells(path)] == [(1, 0), (2, 0), (3, 0), (4, 0)]


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
