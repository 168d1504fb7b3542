"""Rows of text files: the file name determines the kind, and bad rows are refused with their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.text_rows import (
    TextRow,
    cell_row,
    check_one_source,
    check_texts,
    header_names,
    kind_of,
    line_row,
    read_lines,
    record_row,
    table_row,
)
from gonie.system.parquet import ParquetCell

KINDS = ("text", "tokens", "jsonl", "tsv", "csv", "parquet")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a", "text"),
        ("a.jsonl", "jsonl"),
        ("a.b.ndjson.gz", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.csv.xz", "csv"),
        ("jsonl.xz", "text"),
    ],
)
def test_the_file_name_determines_the_kind(name: str, kind: str) -> None:
    assert kind_of(name, KINDS) == kind
    assert kind_of(name, ("text",)) == "text", "and none that is not asked for"


def test_a_line_contains_one_text_or_several() -> None:
    assert line_row("f", 3, "a\tb", ["text"]) == TextRow("f", 3, ("a\tb",))
    assert line_row("f", 3, "a\tb", ["one", "two"]) == TextRow("f", 3, ("a", "b"))
    with pytest.raises(InputError, match=r"f:3: expected 2 tab-separated texts .*one, two.*, got 3"):
        line_row("f", 3, "a\tb\tc", ["one", "two"])


def test_texts_of_a_table_row_are_found_by_the_header() -> None:
    names = header_names("f", "id\tb\ta", ["a", "b"])
    assert table_row("f", 2, "1\ty\tx", ["a", "b"], names) == TextRow("f", 2, ("x", "y"))
    assert table_row("f", 3, "", ["a"], names) is None
    with pytest.raises(InputError, match=r"f:4: expected 3 columns separated by tabs.*got 2"):
        table_row("f", 4, "x\ty", ["a"], names)
    for header, told in (("a\tb", "no column c"), ("c\tc", "several columns c")):
        with pytest.raises(InputError, match=f"f:1: {told} in the header"):
            header_names("f", header, ["c"])


@pytest.mark.parametrize(
    ("texts", "needed"), [([], 2), (["a"], 1), (["a\tb"], 1), (["a\tb"], 2), (["a", "b"], 2)]
)
def test_the_needed_number_of_texts_is_accepted(texts: list[str], needed: int) -> None:
    check_texts(texts, needed, call="gonie classify m")


@pytest.mark.parametrize(
    ("texts", "needed", "told"),
    [
        (["a", "b"], 1, "expected one TEXT, got 2"),
        (["a"], 2, "needs 2 texts, got 1. Run: gonie classify m TEXT TEXT$"),
        (["a\tb\tc"], 2, "needs 2 texts, got 3"),
    ],
)
def test_another_number_of_texts_is_refused(texts: list[str], needed: int, told: str) -> None:
    with pytest.raises(InputError, match=told):
        check_texts(texts, needed, call="gonie classify m")


def test_texts_of_a_json_object_are_found_by_key() -> None:
    row = record_row("f", 1, '{"text": "나", "id": 3}', ["text"])
    assert row == TextRow("f", 1, ("나",), {"text": "나", "id": 3})
    assert row is not None
    assert row.place == {"file": "f", "row": 1, "id": 3}
    both = record_row("f", 1, '{"a": "x", "b": "y"}', ["b", "a"])
    assert both is not None
    assert both.texts == ("y", "x")
    assert record_row("f", 2, "  ", ["text"]) is None
    with pytest.raises(InputError, match="f:4: invalid JSON object"):
        record_row("f", 4, "{", ["text"])
    with pytest.raises(InputError, match="f:4: no key 'b'"):
        record_row("f", 4, '{"a": "x"}', ["a", "b"])


def test_texts_of_a_parquet_row_are_found_by_column() -> None:
    row = cell_row("f", ParquetCell(2, ("x", "y"), b"id"), ["a", "b"])
    assert row == TextRow("f", 2, ("x", "y"), {"id": "b'id'", "a": "x", "b": "y"})
    with pytest.raises(InputError, match=r"f:1: null in the column 'a'"):
        cell_row("f", ParquetCell(1, (None,)), ["a"])
    with pytest.raises(InputError, match="invalid UTF-8"):
        cell_row("f", ParquetCell(1, (b"\xff",)), ["a"])


# --- lines of a text, of files or of standard input


def test_lines_of_files_come_in_order_with_their_places(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a\n\nb\n")
    other.write_text("c")
    found = list(read_lines(None, [other, one]))
    assert found == [(str(other), 1, "c"), (str(one), 1, "a"), (str(one), 2, ""), (str(one), 3, "b")]


def test_a_text_with_line_breaks_is_one_line() -> None:
    assert list(read_lines("two\nlines", [])) == [("TEXT", 1, "two\nlines")]
    with pytest.raises(InputError, match="TEXT: invalid UTF-8: lone surrogate"):
        read_lines("ab\udcff", [])


def test_a_text_together_with_files_is_refused() -> None:
    check_one_source(True, [])
    with pytest.raises(InputError, match="TEXT and --file cannot be combined"):
        check_one_source(True, ["x"])


def test_a_missing_file_is_refused_before_reading(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("", "utf-8")
    check_one_source(False, [tmp_path / "a.txt"])
    with pytest.raises(InputError, match="file not found"):
        check_one_source(False, [tmp_path / "a.txt", tmp_path / "b.txt"])


def test_checking_a_pipe_does_not_read_from_it(tmp_path: Path) -> None:
    """Lines read by the check would be missing later."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write("one\ntwo\n")
    with os.fdopen(reading):
        check_one_source(False, [f"/dev/fd/{reading}"])
        assert [line for _, _, line in read_lines(None, [f"/dev/fd/{reading}"])] == ["one", "two"]
