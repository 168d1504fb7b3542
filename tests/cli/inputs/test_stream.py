"""The lines that commands read: in the order of the files, each with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gonie.cli.inputs.stream import check_one_source, read_columns, read_lines
from gonie.errors import InputError
from gonie.formats.format import ReadOptions


def test_lines_of_files_come_in_order_with_their_places(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a\n\nb\n")
    other.write_text("c")
    found = list(read_lines(None, [other, one]))
    assert found == [(str(other), 1, "c"), (str(one), 1, "a"), (str(one), 2, ""), (str(one), 3, "b")]


def test_a_text_is_one_line_whatever_is_in_it() -> None:
    assert list(read_lines("two\nlines", [])) == [("TEXT", 1, "two\nlines")]
    with pytest.raises(InputError, match="TEXT: expected UTF-8, got a lone surrogate"):
        read_lines("ab\udcff", [])


def test_a_text_beside_files_is_refused() -> None:
    check_one_source(True, [])
    with pytest.raises(InputError, match="expected a TEXT or --file, got both"):
        check_one_source(True, ["x"])


def test_a_file_that_cannot_be_read_is_refused_before_the_first_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("", "utf-8")
    check_one_source(False, [tmp_path / "a.txt"])
    with pytest.raises(InputError, match="expected a file, got none of that name"):
        check_one_source(False, [tmp_path / "a.txt", tmp_path / "b.txt"])


def test_a_stream_is_not_touched_before_its_time(tmp_path: Path) -> None:
    """What is read from a pipe to see whether it can be read would be missing later."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write("one\ntwo\n")
    with os.fdopen(reading):
        check_one_source(False, [f"/dev/fd/{reading}"])
        assert [line for _, _, line in read_lines(None, [f"/dev/fd/{reading}"])] == ["one", "two"]


def test_sentences_of_column_files_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(f"{name}\tO\nx\tO\n\ny\tO\n")
    files = [tmp_path / "b", tmp_path / "a"]
    found = [sentence.words for sentence in read_columns(None, files, ReadOptions())]
    assert found == [("b", "x"), ("y",), ("a", "x"), ("y",)]
    with pytest.raises(InputError, match="--input conll with --file or standard input, got a TEXT"):
        list(read_columns("text", [], ReadOptions()))
