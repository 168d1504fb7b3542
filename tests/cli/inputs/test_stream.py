"""The lines that commands read: in the order of the files, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.cli.inputs.stream import read_columns
from gonie.errors import InputError
from gonie.formats.format import ReadOptions


def test_sentences_of_column_files_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(f"{name}\tO\nx\tO\n\ny\tO\n")
    files = [tmp_path / "b", tmp_path / "a"]
    found = [sentence.words for sentence in read_columns(None, files, ReadOptions())]
    assert found == [("b", "x"), ("y",), ("a", "x"), ("y",)]
    with pytest.raises(InputError, match="--input conll with --file or standard input, got a TEXT"):
        list(read_columns("text", [], ReadOptions()))
