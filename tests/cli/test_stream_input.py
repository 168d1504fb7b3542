"""The lines that commands read: in the order of the files, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.cli.stream_input import check_one_source, read_lines
from gonie.errors import InputError


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
    check_one_source("text", [])
    check_one_source(None, ["x"])
    with pytest.raises(InputError, match="expected a TEXT or --file, got both"):
        check_one_source("text", ["x"])
