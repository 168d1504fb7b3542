"""Rows of texts: the kind by the name, the texts by the columns, and the place of what is none."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.formats.text_rows import TextRow, cell_row, kind_of, line_row, record_row
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
def test_the_name_tells_the_kind(name: str, kind: str) -> None:
    assert kind_of(name, KINDS) == kind
    assert kind_of(name, ("text",)) == "text", "and none that is not asked for"


def test_a_line_is_a_text_or_several() -> None:
    assert line_row("f", 3, "a\tb", ["text"]) == TextRow("f", 3, ("a\tb",))
    assert line_row("f", 3, "a\tb", ["one", "two"]) == TextRow("f", 3, ("a", "b"))
    with pytest.raises(InputError, match=r"f:3: expected 2 texts .*one, two.*, got 3"):
        line_row("f", 3, "a\tb\tc", ["one", "two"])


def test_an_object_has_its_texts_under_the_columns() -> None:
    row = record_row("f", 1, '{"text": "나", "id": 3}', ["text"])
    assert row == TextRow("f", 1, ("나",), {"text": "나", "id": 3})
    assert row is not None
    assert row.place == {"file": "f", "row": 1, "id": 3}
    both = record_row("f", 1, '{"a": "x", "b": "y"}', ["b", "a"])
    assert both is not None
    assert both.texts == ("y", "x")
    assert record_row("f", 2, "  ", ["text"]) is None
    with pytest.raises(InputError, match="f:4: expected a JSON object"):
        record_row("f", 4, "{", ["text"])
    with pytest.raises(InputError, match='f:4: expected a JSON object with "b"'):
        record_row("f", 4, '{"a": "x"}', ["a", "b"])


def test_a_cell_has_its_texts_in_the_columns() -> None:
    row = cell_row("f", ParquetCell(2, ("x", "y"), b"id"), ["a", "b"])
    assert row == TextRow("f", 2, ("x", "y"), {"id": "b'id'", "a": "x", "b": "y"})
    with pytest.raises(InputError, match=r"f:1: expected a text in the column 'a', got none \(null\)"):
        cell_row("f", ParquetCell(1, (None,)), ["a"])
    with pytest.raises(InputError, match="bytes that are not UTF-8"):
        cell_row("f", ParquetCell(1, (b"\xff",)), ["a"])
