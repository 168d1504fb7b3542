"""Words with tags after a slash: the last slash separates the tag."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.tagged import TaggedSource, survey, write
from gonie.text.types import Sentence
from support.format_files import FILES, again, plain

FILE = FILES / "slashed.txt"


def source(path: Path, text: str) -> TaggedSource:
    path.write_text(text, "utf-8")
    return TaggedSource(path)


def test_each_line_is_a_sentence() -> None:
    assert plain(list(TaggedSource(FILE))) == [
        (("삼성", "전자", "는", "좋다", "😀"), ("B_Com", "I", "O", "O", "O"), None),
        (("두리", "는", "1/2", "만"), ("B_Com", "O", "O", "O"), None),
    ]
    assert str(survey(TaggedSource(FILE)).scheme) == "IOB2 (B_X I O)"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("EU/B-ORG rejects/O German/B-MISC call/O\n", "slashed"),
        ("The/DT jury/NN said/VBD ,/, and/CC the/DT man/NN ran/VBD ./.\n", "slashed"),
        ("1/2 3/4\n", None),
        ("and/or either/or\n", None),
        ("a/b\tc/d\n", None),
    ],
)
def test_only_tags_after_slashes_are_recognised(text: str, format: str | None, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(text, "utf-8")
    found = identify(tmp_path / "f")
    assert (found and found.format.name) == format


def test_writing_and_reading_gives_the_same_sentences(tmp_path: Path) -> None:
    assert again(FILE, "slashed", tmp_path / "again.txt") == plain(list(TaggedSource(FILE)))
    assert (tmp_path / "again.txt").read_bytes() == FILE.read_bytes()


def test_joined_morphemes_of_an_eojeol_are_separated(tmp_path: Path) -> None:
    text = "삼성/NNP+은/JX 1+1/SN 좋/VA+다/EF+./SF\n나/NP+는/JX\n"
    found = source(tmp_path / "f", text)
    first, second = found
    assert first.words == ("삼성", "은", "1+1", "좋", "다", ".")
    assert first.tags == ("NNP", "JX", "SN", "VA", "EF", "SF")
    assert first.columns["eojeol"] == ("1", "1", "2", "3", "3", "3")
    write(tmp_path / "again", [first, second], "slashed")
    assert (tmp_path / "again").read_text("utf-8") == text


@pytest.mark.parametrize("item", ["말", "말/", "/O", "말/B/"])
def test_a_word_without_a_tag_is_refused(item: str, tmp_path: Path) -> None:
    found = source(tmp_path / "f", f"삼성/B_Com 전자/I\n\n두리/B_Com {item}\n")
    with pytest.raises(InputError, match=f"f:3: no word and tag: '{item}'.*Seoul/B-LOC"):
        list(found.with_options(format="slashed"))


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(("a b",), ("O",)), "words with spaces or tags with slashes: 'a b/O'"),
        (Sentence(("a",), ("B-X/Y",)), "words with spaces or tags with slashes: 'B-X/Y'"),
        (Sentence(("a",)), "sentences without tags"),
    ],
)
def test_what_it_cannot_store_is_refused(sentence: Sentence, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        write(tmp_path / "f", [sentence], "slashed")
