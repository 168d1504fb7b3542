"""Paragraphs from files: every file type gives the same, nothing is lost, and bad files are refused."""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError, MissingExtraError
from gonie.features.lm_text import paragraphs
from gonie.features.lm_text.paragraphs import LONGEST, read_paragraphs
from gonie.text.report import Report

TEXTS = ["One fish.", "나비야, 나비야.", "  two  words\t"]


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def packed(path: Path, pack: Callable[[bytes], bytes]) -> Path:
    path.write_bytes(pack("\n \n".join(TEXTS).encode() + b"\r\n\n"))
    return path


def read(path: Path, **options: Any) -> list[str]:
    return list(read_paragraphs(path, report=Report(), **options))


def test_plain_gzip_xz_and_parquet_give_the_same_paragraphs(tmp_path: Path) -> None:
    assert read(packed(tmp_path / "a", bytes)) == TEXTS
    assert read(packed(tmp_path / "a.txt.gz", gzip.compress)) == TEXTS
    assert read(packed(tmp_path / "a.txt.xz", lzma.compress)) == TEXTS
    cells = [TEXTS[0], None, "", f"{TEXTS[1]}\n\n{TEXTS[2]}"]
    assert read(parquet(tmp_path / "a.parquet", text=cells, id=[1, 2, 3, 4])) == TEXTS


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_parquet_string_type_is_read(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "a.parquet"
    schema = pa.schema([("body", kind)])
    pq.write_table(pa.table({"body": pa.array(["a", "b"], pa.string()).cast(kind)}, schema=schema), path)
    assert read(path, column="body") == ["a", "b"]


def test_a_wrong_column_is_refused_with_the_existing_ones(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", body=["x"], year=[1999])
    with pytest.raises(InputError, match=r"no column 'text'.*body \(string\), year \(int64\)"):
        read(path)
    with pytest.raises(InputError, match=r"column 'year' has type int64.*body \(string\)"):
        read(path, column="year")


def test_reading_parquet_reports_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paragraphs, "ROWS", 2)
    path = parquet(tmp_path / "a.parquet", text=list("abcde"))
    told: list[int] = []
    assert read(path, reached=told.append) == list("abcde")
    assert len(told) == 3
    assert told[-1] == path.stat().st_size


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda whole: b"", lambda whole: b"no"]
)
def test_damaged_parquet_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = parquet(tmp_path / "a.parquet", text=["x"] * 100)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="Parquet"):
        read(path)


def test_parquet_with_invalid_utf8_is_refused(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    with pytest.raises(InputError, match="utf-8"):
        read(parquet(tmp_path / "a.parquet", text=broken))


def test_without_pyarrow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "a.parquet", text=["x"])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"gonie\[train\]"):
        read(path)
    assert read(packed(tmp_path / "a", bytes)) == TEXTS, "other files need no pyarrow"


@pytest.mark.parametrize("name", ["a", "a.gz", "a.parquet"])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="file not found"):
        read(tmp_path / name)


def test_invalid_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("fine\n한국어".encode("cp949"))
    with pytest.raises(InputError, match=r"a:2: invalid UTF-8.*CP949"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", " \t\n\u3000\n".encode()])
def test_a_file_without_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match="the file contains no text"):
        read(tmp_path / "a")
    with pytest.raises(InputError, match="another column"):
        read(parquet(tmp_path / "a.parquet", text=["", None]))


# --- long lines ------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=300)
@given(st.text("ab \u3000", max_size=60), st.integers(1, 9))
def test_a_long_line_is_split_at_spaces_without_loss(
    tmp_path_factory: pytest.TempPathFactory, text: str, longest: int
) -> None:
    path = tmp_path_factory.mktemp("long") / "a"
    path.write_text(text + "\nx", "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(paragraphs, "LONGEST", longest)
        *pieces, last = read(path)
    assert last == "x"
    assert all(0 < len(piece) <= longest and piece.strip() for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    if max(map(len, text.split()), default=0) <= longest // 2:
        assert " ".join(pieces).split() == text.split(), "a word that would fit was cut"


@pytest.mark.parametrize("word", ["word ", "x", " "])
def test_a_line_of_ten_megabytes_is_split(tmp_path: Path, word: str) -> None:
    path = tmp_path / "a"
    path.write_text(word * (10_000_000 // len(word)) + "end", "utf-8")
    report = Report()
    pieces = list(read_paragraphs(path, report=report))
    assert max(map(len, pieces)) <= LONGEST
    assert sum(len(piece.split()) for piece in pieces) == {"word ": 2_000_001, "x": 101, " ": 1}[word]
    assert report.noticed == {"lines longer than 100,000 characters, read in pieces": 1}
