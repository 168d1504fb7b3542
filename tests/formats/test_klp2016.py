"""The 2016 contest file: words are morphemes and not eojeol numbers, and a bare I continues an entity."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.tagged import TaggedSource, survey, write
from gonie.text.schemes import PLAIN, to_spans
from support.format_files import FILES, again, plain

FILE = FILES / "klp2016.txt"
BLOCK = "; 하나는\n$<하나:PS>는\n1\t하나\tNNP\tB_PS\n1\t는\tJX\tO\n\n"


def source(path: Path, text: str) -> TaggedSource:
    path.write_text(text, "utf-8")
    return TaggedSource(path)


def test_words_are_morphemes_and_tags_are_in_the_last_column() -> None:
    first, second = TaggedSource(FILE)
    assert first.words == ("하나", "와", "두리", "에게", "공", "을", "주", "며", "😀")
    assert first.tags == ("B_PS", "O", "B_PS", "O", "O", "O", "O", "O", "O")
    assert first.text == "하나와 두리에게 공을 주며 😀"
    assert first.offsets()[-2:] == [(13, 14), (15, 16)]
    assert first.columns["pos"][:3] == ("NNP", "JC", "NNP")
    assert second.words[:4] == ("지나", "ㄴ", "19", "일")


def test_an_entity_goes_on_with_a_bare_i() -> None:
    found = survey(TaggedSource(FILE))
    assert (str(found.scheme), found.detection.invalid) == ("IOB2 (B_X I O)", 0)
    tags = list(TaggedSource(FILE))[1].tags or ()
    assert to_spans(tags, found.scheme) == [(0, 4, "DT"), (4, 5, "OG")]


def test_inflected_morphemes_have_no_offsets_which_is_counted() -> None:
    found = TaggedSource(FILE)
    assert [sentence.text is None for sentence in found] == [False, True]
    assert found.report.noticed == {"sentences with contracted words (no offsets there)": 1}


def test_the_file_is_recognised() -> None:
    found = identify(FILE)
    assert found is not None
    assert found.format.name == "klp2016"


def test_writing_and_reading_gives_the_same_sentences(tmp_path: Path) -> None:
    assert again(FILE, "klp2016", tmp_path / "again.txt") == plain(list(TaggedSource(FILE)))
    assert (tmp_path / "again.txt").read_text("utf-8").startswith(FILE.read_text("utf-8").split("\n\n")[0])


def test_entities_of_other_corpora_are_written_in_its_scheme(tmp_path: Path) -> None:
    found = again(FILES / "klue-ner.tsv", "klp2016", tmp_path / "klue.txt")
    assert found[1] == (("3", "월", "2", "일"), ("B_DT", "I", "I", "I"), "3월 2일")


def test_blocks_need_no_blank_lines_and_no_text(tmp_path: Path) -> None:
    rows = "1\t하나\tNNP\tB_PS\n1\t는\tJX\tO\n"
    found = plain(list(source(tmp_path / "f", f"{rows}; 하나 는\n$<하나:PS> 는\n{rows}")))
    words, tags = ("하나", "는"), ("B_PS", "O")
    assert found == [(words, tags, None), (words, tags, "하나 는")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2\t왔다\tVV", "f:6: invalid line: '2.t왔다.tVV'.*number of the eojeol"),
        ("둘\t왔다\tVV\tO", "f:6: invalid line"),
        ("2\t왔다\t\tO", "f:6: invalid line"),
        ("왔다", "f:6: invalid line"),
    ],
)
def test_other_lines_are_refused(line: str, message: str, tmp_path: Path) -> None:
    found = source(tmp_path / "f", f"{BLOCK}{line}\n")
    with pytest.raises(InputError, match=message):
        list(found.with_options(format="klp2016"))


def test_parts_of_speech_as_tags_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="klp2016 cannot store tags that are not entities"):
        write(tmp_path / "f", TaggedSource(FILES / "sejong.txt"), "klp2016", scheme=PLAIN)
