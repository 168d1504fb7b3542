"""Parallel files: texts and labels are matched line by line, and unequal lengths are refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.formats.parallel_files import is_parallel, read_parallel
from gonie.text.labelled_text import LabelledRow, TextOptions
from gonie.text.report import Report


def folder(path: Path, texts: str, labels: str | None) -> Path:
    (path / "seq.in").write_text(texts, "utf-8")
    if labels is not None:
        (path / "label").write_text(labels, "utf-8")
    return path


def rows(path: Path, **options: object) -> list[LabelledRow]:
    return list(read_parallel(path, TextOptions(**options), Report()))  # type: ignore[arg-type]


def test_texts_and_labels_are_matched_line_by_line(tmp_path: Path) -> None:
    folder(tmp_path, "play it \n\nrain?\n", "Play\n\nWeather#Time\n")
    assert rows(tmp_path, label_separator="#") == [
        LabelledRow(1, "play it ", ("Play",)),
        LabelledRow(2, "", ()),
        LabelledRow(3, "rain?", ("Weather", "Time")),
    ]


def test_texts_without_labels_are_read_if_requested(tmp_path: Path) -> None:
    (tmp_path / "seq.in.gz").write_bytes(gzip.compress(b"a\nb\n"))
    assert is_parallel(tmp_path)
    assert [row.text for row in rows(tmp_path, label_column=None)] == ["a", "b"]
    with pytest.raises(InputError, match="no file label in the folder"):
        rows(tmp_path)


@pytest.mark.parametrize(
    ("texts", "labels", "where"),
    [
        ("a\nb\n", "x\n", "label:2: the file ends here, but seq.in"),
        ("a\n", "x\ny\n", "seq.in:2: the file ends here, but label"),
    ],
)
def test_unequal_lengths_are_refused(tmp_path: Path, texts: str, labels: str, where: str) -> None:
    with pytest.raises(InputError, match=where):
        rows(folder(tmp_path, texts, labels))


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert not is_parallel(tmp_path / "none")
    with pytest.raises(InputError, match="folder not found"):
        rows(tmp_path / "none")


def test_the_snips_intents_are_read_completely(shared_data: Path) -> None:
    source = LabelledSource(shared_data / "classify" / "snips" / "train")
    assert len({text.labels for text in source}) == 7
    assert source.report.texts == 13_084
