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
    assert second.words[:4] == ("지난", "19", "일", "강원대")


def test_an_entity_goes_on_with_a_bare_i() -> None:
    found = survey(TaggedSource(FILE))
    assert (str(found.scheme), found.detection.invalid) == ("IOB2 (B_X I O)", 0)
    tags = list(TaggedSource(FILE))[1].tags or ()
    assert to_spans(tags, found.scheme) == [(0, 3, "DT"), (3, 4, "OG")]


def test_contracted_morphemes_are_one_word_with_offsets() -> None:
    found = TaggedSource(FILE)
    _, second = found
    assert second.text == "지난 19일 강원대에서 열렸다."
    assert second.words == ("지난", "19", "일", "강원대", "에서", "열렸", "다", ".")
    assert second.columns["pos"] == ("VV+ETM", "SN", "NNB", "NNP", "JKB", "VV+EP", "EF", "SF")
    assert tuple(second.text[start:end] for start, end in second.offsets()) == second.words
    assert found.report.noticed == {"contracted words (their morphemes are read as one word)": 2}
    assert list(found.report.rows) == [15, 17, 18, 19, 20, 21, 23, 24], "of the first morpheme of each word"


@pytest.mark.parametrize(
    ("eojeol", "rows", "words"),
    [
        ("사서", ["사\tVV\tO", "아서\tEC\tO"], ("사서",)),
        ("가", ["가\tVV\tO", "아\tEC\tO"], ("가",)),
        ("그건", ["그것\tNP\tO", "은\tJX\tO"], ("그건",)),
        ("서울였다", ["서울\tNNP\tB_LC", "이\tVCP\tO", "었\tEP\tO", "다\tEF\tO"], ("서울", "였", "다")),
    ],
)
def test_morphemes_of_contracted_words(
    eojeol: str, rows: list[str], words: tuple[str, ...], tmp_path: Path
) -> None:
    body = "".join(f"1\t{row}\n" for row in rows)
    (sentence,) = source(tmp_path / "f", f"; {eojeol}\n${eojeol}\n{body}")
    assert (sentence.words, sentence.text) == (words, eojeol)


@pytest.mark.parametrize(
    ("text", "rows", "reason"),
    [
        ("내", ["1\t나\tNP\tB_PS", "1\t의\tJKG\tO"], "an entity that ends inside a contracted word"),
        ("하나", ["1\t하나\tNNP\tB_PS", "2\t는\tJX\tO"], "eojeols that are not those of their text"),
        ("두리", ["1\t하나\tNNP\tB_PS"], "eojeols that are not those of their text"),
        ("하나가", ["1\t하나\tNNP\tB_PS"], "eojeols that are not those of their text"),
    ],
)
def test_sentences_whose_offsets_are_not_known_are_counted(
    text: str, rows: list[str], reason: str, tmp_path: Path
) -> None:
    found = source(tmp_path / "f", f"; {text}\n${text}\n" + "".join(f"{row}\n" for row in rows))
    (sentence,) = found
    assert (sentence.text, len(sentence)) == (None, len(rows))
    assert found.report.noticed == {f"sentences with {reason} (no offsets there)": 1}


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
