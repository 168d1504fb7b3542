"""Rows of text files: the file name determines the kind, and bad rows are refused with their place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from gonie.errors import InputError
from gonie.formats.text_rows import (
    TextRow,
    cell_row,
    check_one_source,
    check_texts,
    field_texts,
    header_columns,
    kind_of,
    line_row,
    read_lines,
    read_table,
    record_row,
    table_row,
)
from gonie.system.parquet import ParquetBatch, ParquetCell
from gonie.text.report import Report

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
    names = ["id", "b", "a"]
    fields = {"id": '"1"', "b": '"y"', "a": '"x"'}
    assert table_row("f", 2, "1\ty\tx", ["a", "b"], names) == TextRow("f", 2, ("x", "y"), fields)
    assert table_row("f", 3, "", ["a"], names) is None
    with pytest.raises(InputError, match=r"f:4: expected 3 columns separated by tabs.*got 2"):
        table_row("f", 4, "x\ty", ["a"], names)
    assert header_columns("f", names, ["x"], ["b", "a"]) == ("b", "a")
    for header, told in ((["a", "b"], "no column c in the header: a, b"), (["c", "x", "x"], "two columns")):
        with pytest.raises(InputError, match=f"f:1: {told}"):
            header_columns("f", header, ["c"])
    with pytest.raises(InputError, match=r"no columns a and b or c and d in.*--column FIRST --column SECOND"):
        header_columns("f", ["a", "c"], ["a", "b"], ["c", "d"])


def test_cells_of_a_csv_table_come_back_with_their_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,text,more\n1,"a, b","two\nlines"\n\n2, ,x\n3,c,\n', "utf-8")
    report = Report()
    rows = list(read_table(path, "csv", report, columns=[["text"]], noun="rows"))
    assert [(row.number, row.texts) for row in rows] == [(2, ("a, b",)), (6, ("c",))]
    assert [json.loads(row.fields["more"]) for row in rows] == ["two\nlines", ""]
    assert report.skipped == {"empty lines": 1, "rows with an empty text": 1}


def test_empty_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    for content, told in (("", "the file is empty"), ("text\n", "no rows in the file")):
        path.write_text(content, "utf-8")
        with pytest.raises(InputError, match=told):
            list(read_table(path, "tsv", Report(), columns=[["text"]], noun="rows"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("id,query\n7,how can I pay\n8,where is it now\n", "id, query.*--column NAME.*--column, from 0"),
        ("질문,작성일\n언제 오나요,2024\n어디에요,2025\n", "질문, 작성일.*--column NAME.*--column, from 0"),
        ("질문\n언제 오나요\n", "질문.*--column NAME.*--input text"),
        ("ham,see you\nspam,buy it\n", "ham, see you.*--column NAME.*--column, from 0"),
    ],
)
def test_a_table_without_the_column_of_texts_is_refused(content: str, told: str, tmp_path: Path) -> None:
    """Otherwise its header would be answered as a text."""
    path = tmp_path / "a.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=f"a.csv:1: no column text in the header: {told}"):
        list(read_table(path, "csv", Report(), columns=[["text"]], noun="rows"))


def test_columns_given_by_number_need_no_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("ham,see you\nspam,buy it\nham,call me\n", "utf-8")
    rows = read_table(path, "csv", Report(), columns=[["1"]], noun="rows")
    assert [row.texts for row in rows] == [("see you",), ("buy it",), ("call me",)]
    path.write_text("query,kind\n" + "see you,ham\nbuy it,spam\n" * 3, "utf-8")
    with pytest.raises(InputError, match=r"first line seems to be a header.*--column query"):
        list(read_table(path, "csv", Report(), columns=[["0"]], noun="rows"))
    with pytest.raises(InputError, match="no column 7 in the header"):
        list(read_table(path, "csv", Report(), columns=[["7"]], noun="rows"))


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
    assert row == TextRow("f", 1, ("나",), {"text": '"나"', "id": "3"})
    assert row is not None
    assert row.place == {"file": "f", "row": 1}
    both = record_row("f", 1, '{"a": "x", "b": "y"}', ["b", "a"])
    assert both is not None
    assert both.texts == ("y", "x")
    assert record_row("f", 2, "  ", ["text"]) is None
    with pytest.raises(InputError, match="f:4: invalid JSON object"):
        record_row("f", 4, "{", ["text"])
    with pytest.raises(InputError, match="f:4: no key 'b'"):
        record_row("f", 4, '{"a": "x"}', ["a", "b"])


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (" { } ", {}),
        ('{"a":1e400 ,"b" : -0.10,"c":1.0}', {"a": "1e400", "b": "-0.10", "c": "1.0"}),
        ('{"a": [1, {"b": null}], "\\u00e9\\"": "}\\","}', {"a": '[1, {"b": null}]', 'é"': '"}\\","'}),
        ('{"a": [1,\n2],\r\n"b": "x"}', {"a": "[1, 2]", "b": '"x"'}),
        ('{"a": 1, "a": 2}', {"a": "2"}),
    ],
)
def test_fields_of_a_json_object_come_back_as_they_are_written(line: str, fields: dict[str, str]) -> None:
    assert field_texts(line) == fields


def test_texts_of_a_parquet_row_are_found_by_column() -> None:
    batch = ParquetBatch(Path("f"), pa.record_batch({"a": ["?", "x"], "b": ["?", "y"], "n": [1, 2]}))
    row = cell_row("f", ParquetCell(2, ("x", "y"), batch, 1), ["a", "b"])
    assert (row.number, row.texts) == (2, ("x", "y"))
    assert row.fields == {"a": '"x"', "b": '"y"', "n": "2"}
    with pytest.raises(InputError, match=r"f:1: null in the column 'a'"):
        cell_row("f", ParquetCell(1, (None,), batch, 0), ["a"])
    with pytest.raises(InputError, match="invalid UTF-8"):
        cell_row("f", ParquetCell(1, (b"\xff",), batch, 0), ["a"])


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
