"""The Naver challenge file: a hyphen is O, and the label comes before B and I."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.tagged import TaggedSource, survey, write
from gonie.text.schemes import PLAIN, to_spans
from support.format_files import FILES, again, plain

FILE = FILES / "naver.txt"


def test_numbers_are_no_words_and_hyphens_are_outside() -> None:
    assert plain(list(TaggedSource(FILE))) == [
        (
            ("하나는", "3월", "2일에", "강원도로", "갔다😀"),
            ("PER_B", "DAT_B", "DAT_I", "LOC_B", "O"),
            None,
        ),
        (("비가", "왔다."), ("O", "O"), None),
    ]
    found = survey(TaggedSource(FILE))
    assert (str(found.scheme), found.detection.invalid) == ("IOB2 (X_B X_I O)", 0)
    assert to_spans(next(iter(TaggedSource(FILE))).tags or (), found.scheme)[1] == (1, 3, "DAT")


def test_the_file_is_recognised_before_a_column_file_of_labels() -> None:
    found = identify(FILE)
    assert found is not None
    assert found.format.name == "naver"


def test_a_copy_with_spaces_and_windows_line_ends_is_read_alike(tmp_path: Path) -> None:
    """As a column file, its hyphens would be a part of speech."""
    copy = tmp_path / "copy.txt"
    copy.write_bytes(
        b"\xef\xbb\xbf" + FILE.read_text("utf-8").replace("\t", " ").replace("\n", "\r\n").encode()
    )
    assert plain(list(TaggedSource(copy))) == plain(list(TaggedSource(FILE)))


def test_numbered_columns_with_other_tags_are_not_naver(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\tGeorge\tB-PER\n2\truns\tO\n", "utf-8")
    found = identify(tmp_path / "f")
    assert found is not None
    assert found.format.name == "conll"


def test_writing_and_reading_gives_the_same_sentences(tmp_path: Path) -> None:
    assert again(FILE, "naver", tmp_path / "again.txt") == plain(list(TaggedSource(FILE)))
    assert (tmp_path / "again.txt").read_bytes() == FILE.read_bytes()
    assert again(FILES / "klue-ner.tsv", "naver", tmp_path / "klue.txt")[1][1] == (
        *("DT_B", "DT_I", "DT_I", "DT_I"),
    )


@pytest.mark.parametrize("line", ["3\t왔다", "왔다\t-", "3\t\t-", "3\t왔다\t-\t-"])
def test_other_lines_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(f"1\t하나는\tPER_B\n2\t어제\t-\n{line}\n", "utf-8")
    with pytest.raises(InputError, match=r"f:3: invalid line.*a number, the eojeol and its tag"):
        list(TaggedSource(tmp_path / "f").with_options(format="naver"))


def test_parts_of_speech_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="naver cannot store sentences without entity tags"):
        write(tmp_path / "f", TaggedSource(FILES / "sejong.txt"), "naver", scheme=PLAIN)
