"""Sejong's columns: morphemes with parts of speech, and offsets only where the morphemes are the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.inspect import convert_file
from gonie.formats.tagged import TaggedSource, survey, write
from gonie.text.schemes import PLAIN
from gonie.text.types import Sentence
from support.format_files import FILES, again, plain

FILE = FILES / "sejong.txt"


def source(path: Path, text: str) -> TaggedSource:
    path.write_text(text, "utf-8")
    return TaggedSource(path)


def test_words_are_morphemes_and_tags_are_parts_of_speech() -> None:
    assert plain(list(TaggedSource(FILE))) == [
        (("새", "소식", "/", "알림"), ("MM", "NNG", "SP", "NNG"), "새 소식/알림"),
        (
            ("하나", "는", "가", "았", "다", "😀", "."),
            ("NNP", "JX", "VV", "EP", "EF", "SW", "SF"),
            None,
        ),
        (("세계", "의", "끝", "."), ("NNG", "JKG", "NNG", "SF"), "세계의 끝."),
    ]
    assert survey(TaggedSource(FILE)).scheme == PLAIN


def test_what_is_left_out_is_counted() -> None:
    found = TaggedSource(FILE)
    _, second, third = found
    assert found.report.noticed == {"contracted eojeols (sentences without offsets)": 1}
    assert found.report.skipped == {"lines of markup": 13, "numbers of homographs, such as __02": 1}
    assert found.report.choices["sentences"][0] == "markup and eojeols that end in SF"
    assert second.columns["form"][2:4] == ("갔다😀.", "갔다😀.")
    assert third.offsets() == [(0, 2), (2, 3), (4, 5), (5, 6)]


def test_the_file_is_recognised() -> None:
    found = identify(FILE)
    assert found is not None
    assert found.format.name == "sejong"


def test_numbers_may_be_missing_and_blank_lines_end_sentences(tmp_path: Path) -> None:
    found = source(
        tmp_path / "f", "나는\t나/NP + 는/JX\n간다.\t가/VV + ㄴ다/EF + ./SF\n또\t또/MAG\n\n너\t너/NP\n"
    )
    assert [sentence.words for sentence in found] == [("나", "는", "가", "ㄴ다", ".", "또"), ("너",)]
    assert found.report.choices["format"][0] == "sejong"


def test_writing_and_reading_gives_the_same_sentences(tmp_path: Path) -> None:
    assert again(FILE, "sejong", tmp_path / "again.txt") == plain(list(TaggedSource(FILE)))
    written = (tmp_path / "again.txt").read_text("utf-8").split("\n")
    assert written[4] == "GONIE-00000004\t갔다😀.\t가/VV + 았/EP + 다/EF + 😀/SW + ./SF"


@pytest.mark.parametrize("line", ["말", "말\t말", "말\t말/nng", "a\tb\t말/NNG", "X-1\t말\t말/NNG +의/JKG x"])
def test_other_lines_are_refused(line: str, tmp_path: Path) -> None:
    found = source(tmp_path / "f", f"X-1\t나는\t나/NP + 는/JX\n{line}\n")
    with pytest.raises(InputError, match=r"f:2: invalid line.*the eojeol, a tab and its morphemes"):
        list(found.with_options(format="sejong"))


def test_entities_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sejong cannot store sentences without parts of speech"):
        write(tmp_path / "f", TaggedSource(FILES / "klue-ner.tsv"), "sejong")


@pytest.mark.parametrize("word", ["가 나", "세계__02"])
def test_words_that_would_be_read_as_others_cannot_be_written(word: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"sejong cannot store morphemes such as '{word}/NNG'"):
        write(tmp_path / "f", [Sentence((word,), ("NNG",))], "sejong", scheme=PLAIN)


def test_utf_16_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    """The files of the corpus are in UTF-16."""
    (tmp_path / "f").write_text(FILE.read_text("utf-8"), "utf-16")
    with pytest.raises(InputError, match="iconv -f UTF-16"):
        list(TaggedSource(tmp_path / "f"))


UD = (
    "# text = 도서관에서 책(소설)을 봤다.\n"
    "1\t도서관에서\t도서관+에서\tNOUN\tNNG+JKB\t_\t5\tobl\t_\t_\n"
    "2\t책\t책\tNOUN\tNNG\t_\t5\tobj\t_\tSpaceAfter=No\n"
    "3\t(소설)을\t(+소설+)+을\tNOUN\tSS+NNG+SS+JKO\t_\t2\tx\t_\t_\n"
    "4\t봤다\t보+았+다\tVERB\tVV+EP+EF\t_\t0\troot\t_\tSpaceAfter=No\n"
    "5\t.\t.\tPUNCT\tSF\t_\t5\tpunct\t_\t_\n"
)


def converted(folder: Path, text: str, column: str | None) -> list[str]:
    (folder / "a.conllu").write_text(text, "utf-8")
    found = TaggedSource(folder / "a.conllu").with_options(tag_column=column)
    convert_file(found, to="sejong", out=folder / "out.txt")
    return (folder / "out.txt").read_text("utf-8").splitlines()


def test_eojeols_of_conllu_are_written_by_their_lemmas_and_tags(tmp_path: Path) -> None:
    assert converted(tmp_path, UD, "xpos") == [
        "GONIE-00000001\t도서관에서\t도서관/NNG + 에서/JKB",
        "GONIE-00000002\t책(소설)을\t책/NNG + (/SS + 소설/NNG + )/SS + 을/JKO",
        "GONIE-00000003\t봤다.\t보/VV + 았/EP + 다/EF + ./SF",
        "",
    ]
    assert next(iter(TaggedSource(tmp_path / "out.txt"))).words[:2] == ("도서관", "에서")


@pytest.mark.parametrize(
    ("old", "new", "column", "problem"),
    [
        (
            "",
            "",
            None,
            "such as 'NOUN' of '도서관에서'. Choose the column with Sejong's tags: --tag-column xpos",
        ),
        ("SS+NNG+SS+JKO", "ncn+jco", None, "such as 'NOUN' of '도서관에서'. Write conll"),
        ("SS+NNG+SS+JKO", "ncn+jco", "xpos", r"such as 'ncn\+jco' of '\(소설\)을'. Write conll"),
        ("도서관+에서", "도서관", "xpos", r"'도서관에서' with the tag 'NNG\+JKB', because its 2 morphemes"),
        ("도서관+에서", "_", "xpos", r"'도서관에서' with the tag 'NNG\+JKB', because its 2 morphemes"),
    ],
)
def test_tags_of_other_sets_and_unknown_morphemes_are_refused(
    old: str, new: str, column: str | None, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=rf"a.conllu:2: sejong cannot store .*{problem}"):
        converted(tmp_path, UD.replace(old, new) if old else UD, column)
    assert not (tmp_path / "out.txt").exists()
