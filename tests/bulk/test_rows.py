"""Tests reading rows of pieces: the order of pieces does not matter, and bad rows are set aside."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.bulk import rows as module
from gonie.bulk.pieces import FilePiece, cut_file
from gonie.bulk.plan import InputFile
from gonie.bulk.rows import BadRow, RowReader
from gonie.errors import InputError
from gonie.formats.text_rows import TextRow


def reader(path: Path, kind: str, **options: tuple[str, ...]) -> RowReader:
    return RowReader(
        [InputFile(path.name, kind, 0, 0)], root=path.parent, **{"columns": ("text",), **options}
    )


def read(path: Path, kind: str, *columns: str) -> list[TextRow | BadRow]:
    columns = columns or ("text",)
    pieces = cut_file(0, path, kind=kind, columns=columns, size=1 << 20)
    found = reader(path, kind, columns=columns)
    return [row for piece in pieces for row in found(piece)]


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
@pytest.mark.parametrize("size", [1, 30, 1 << 20])
def test_every_piece_of_a_table_is_read_by_its_header(tmp_path: Path, name: str, size: int) -> None:
    path, texts = tmp_path / name, [f"text {i}" for i in range(20)]
    content = "".join(f"{row}\n" for row in ["id\ttext", *(f"{text[5:]}\t{text}" for text in texts)]).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    pieces = list(cut_file(0, path, kind="tsv", columns=["text"], size=size))
    assert sum(piece.rows for piece in pieces) == 20
    assert sum(piece.size for piece in pieces) == len(content) - len("id\ttext\n")
    for order in (pieces, pieces[::-1]):
        found = reader(path, "tsv")
        rows = [row for piece in order for row in found(piece) if isinstance(row, TextRow)]
        rows.sort(key=lambda row: row.number)
        assert [row.fields["id"] for row in rows] == [f'"{i}"' for i in range(20)]
        assert [(row.number, row.texts) for row in rows] == [(i, (t,)) for i, t in enumerate(texts, 2)]


def test_a_table_row_with_another_number_of_columns_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\tid\ngood\t1\nbad\n\nfilm\t2\n", "utf-8")
    good, bad, last = read(path, "tsv")
    assert isinstance(bad, BadRow)
    assert (bad.row, bad.reason.split(",")[0]) == (3, "expected 2 columns separated by tabs")
    assert [row.texts for row in (good, last) if isinstance(row, TextRow)] == [("good",), ("film",)]
    path.write_text("text", "utf-8")
    assert read(path, "tsv") == []
    path.write_text("", "utf-8")
    with pytest.raises(InputError, match=r"a\.tsv:1: no column text"):
        read(path, "tsv")


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.parquet"])
def test_pieces_give_the_same_rows_in_any_order(tmp_path: Path, name: str) -> None:
    path, texts = tmp_path / name, [f"text number {i}" for i in range(40)]
    kind = "parquet" if name.endswith("parquet") else "text"
    if kind == "parquet":
        pq.write_table(pa.table({"text": texts}), path, row_group_size=15)
    else:
        content = "".join(f"{text}\n" for text in texts).encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    pieces = list(cut_file(0, path, kind=kind, columns=["text"], size=50))
    assert len(pieces) > 5
    wanted = {piece: texts[piece.row - 1 : piece.row - 1 + piece.rows] for piece in pieces}
    shuffled = random.Random(0).sample(pieces, len(pieces))
    for order in (pieces, pieces[::2], pieces[::-1], shuffled, pieces + pieces):
        found = reader(path, kind)
        for piece in order:
            assert [row.texts[0] for row in found(piece) if isinstance(row, TextRow)] == wanted[piece]


def test_a_compressed_file_is_read_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it again for every piece would take quadratic time."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"some words\n" * 50))
    opened: list[Path] = []
    real = module.read_raw_lines

    def counting(path: Path, **options: object) -> Iterable[object]:
        opened.append(path)
        return real(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "read_raw_lines", counting)
    found = reader(path, "text")
    for piece in list(cut_file(0, path, kind="text", columns=["text"], size=20))[::3]:
        assert list(found(piece))
    assert len(opened) == 1


def test_only_bad_lines_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n\ncaf\xe9\na\0b\nlast")
    good, blank, accent, nul, last = read(path, "text")
    assert (good, blank, last) == (
        TextRow("a.txt", 1, ("good",)),
        TextRow("a.txt", 2, ("",)),
        TextRow("a.txt", 5, ("last",)),
    )
    assert accent == BadRow("a.txt", 3, "invalid UTF-8: 0xe9 at byte 4 of the line", "caf\\xe9")
    assert nul == BadRow("a.txt", 4, "NUL byte in a text file", "a\0b")


def test_only_bad_records_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"text": "a", "id": 7}, {"body": "a"}, {"text": None}, [1], {"text": "half \ud800"}]
    lines = [*map(json.dumps, rows), "{", "   ", '{"text": "b"}']
    path.write_text("\n".join(lines))
    first, *bad, last = read(path, "jsonl")
    assert isinstance(first, TextRow)
    assert first.place == {"file": "a.jsonl", "row": 1}
    assert first.fields == {"text": '"a"', "id": "7"}
    assert last == TextRow("a.jsonl", 8, ("b",), {"text": '"b"'})
    assert [row.row for row in bad if isinstance(row, BadRow)] == [2, 3, 4, 5, 6]
    fields = [row.fields for row in bad if isinstance(row, BadRow)]
    assert fields == [{"body": '"a"'}, {"text": "null"}, {}, {"text": '"half \\ud800"'}, {}]
    reasons = " ".join(row.reason for row in bad if isinstance(row, BadRow))
    for words in ("no key 'text'", "got a list", "lone surrogate", "invalid JSON object"):
        assert words in reasons
    assert "a.jsonl" not in reasons


def test_only_rows_with_null_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"body": ["a", None, ""], "id": pa.array([b"x", b"y", None])}), path)
    first, null, empty = read(path, "parquet", "body")
    assert isinstance(first, TextRow)
    assert (first.number, first.texts, first.fields) == (1, ("a",), {"body": '"a"', "id": '"eA=="'})
    fields = {"body": "null", "id": '"eQ=="'}
    assert null == BadRow("a.parquet", 2, "null in the column 'body'", "", fields)
    assert isinstance(empty, TextRow)
    assert (empty.texts, empty.fields) == (("",), {"body": '""', "id": "null"})


def test_a_file_name_that_is_not_utf8_is_escaped(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.txt"))
    path.write_bytes(b"one\n\xff\n")
    assert [row.file for row in read(path, "text")] == ["caf\\xe9.txt"] * 2


def test_the_content_of_a_bad_row_is_truncated_and_valid_utf8(tmp_path: Path) -> None:
    error = InputError("expected a, got b")
    assert len(BadRow.of("f", 1, error, b"\xff" * 10_000_000, {}).content) == module.MAX_CONTENT
    BadRow.of("f", 1, error, "half \ud800", {}).content.encode("utf-8")


def test_a_file_with_fewer_rows_than_planned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(InputError, match="fewer than 2 rows"):
        list(reader(tmp_path / "a.txt", "text")(FilePiece(0, 0, 1, 2, 8)))


def test_rows_with_two_texts_are_read_from_every_format(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ttwo\nalone\n")
    (tmp_path / "a.jsonl").write_text('{"a": "one", "b": "two"}\n{"a": "alone"}\n')
    pq.write_table(pa.table({"b": ["two", None], "a": ["one", "alone"]}), tmp_path / "a.parquet")
    for name, kind in (("a.txt", "text"), ("a.jsonl", "jsonl"), ("a.parquet", "parquet")):
        both, bad = read(tmp_path / name, kind, "a", "b")
        assert isinstance(both, TextRow)
        assert both.texts == ("one", "two")
        assert isinstance(bad, BadRow)
