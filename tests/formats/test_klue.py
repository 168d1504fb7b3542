"""The KLUE format: dropping the spaces must keep every entity and every offset."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.formats import klue
from gonie.formats.tagged import TaggedSource
from gonie.system.files import lines
from gonie.text.fold import fold_text
from gonie.text.report import Report
from gonie.text.schemes import IOB2, PLAIN, Policy, from_spans, to_spans
from gonie.text.types import Sentence
from support.format_files import FILES, again, plain


def read(text: str, policy: Policy = "error") -> tuple[list[Sentence], Report]:
    report = Report(path="f")
    return list(klue.read(enumerate(text.split("\n"), 1), report=report, policy=policy)), report


EXAMPLE = "## note\n## id-0\t<김 씨:PS>는\n김\tB-PS\n \tI-PS\n씨\tI-PS\n는\tO\n\n## id-1\t<3:QT>\n3\tB-QT\n"


def test_words_are_the_characters_except_spaces() -> None:
    (first, second), report = read(EXAMPLE)
    assert first.words == ("김", "씨", "는")
    assert first.tags == ("B-PS", "I-PS", "O")
    assert first.text == "김 씨는"
    assert first.offsets() == [(0, 1), (2, 3), (3, 4)]
    assert (first.line, second.line) == (3, 9)
    assert (report.sentences, report.tokens, report.comments) == (2, 4, 3)


def test_line_numbers_include_the_spaces() -> None:
    report = Report(path="f")
    next(klue.read(enumerate(EXAMPLE.split("\n"), 1), report=report))
    assert list(report.rows) == [3, 5, 6]


def test_an_entity_that_begins_with_a_space_keeps_its_b_tag() -> None:
    """The KLUE corpus has two. Without their B tag, they would be invalid or join the previous entity."""
    sentences, report = read("가\tB-X\n \tB-X\n \tI-X\n나\tI-X\n다\tI-X")
    assert sentences[0].tags == ("B-X", "B-X", "I-X")
    assert report.noticed.total() == 1


def test_entities_of_only_spaces_are_skipped_and_counted() -> None:
    sentences, report = read("가\tO\n \tB-X\n나\tO")
    assert sentences[0].tags == ("O", "O")
    assert report.skipped == {"entities of only spaces": 1}


def test_dropping_spaces_does_not_hide_invalid_tags() -> None:
    text = "가\tB-X\n \tO\n나\tI-X"
    with pytest.raises(InputError, match="f:3: I-X must follow"):
        read(text)
    assert read(text, "begin")[0][0].tags == ("B-X", "B-X")
    sentences, report = read(text, "outside")
    assert sentences[0].tags == ("B-X", "O")
    assert report.repairs == {"outside": 1}


def test_lines_of_a_decomposed_syllable_are_one_word() -> None:
    """A file normalised to NFD has one jamo per line."""
    clean, _ = read("한\tB-X\n국\tI-X\n \tI-X\né\tI-X\n각\tB-Y\n가\tO")
    lines = [("한", "B-X", "I-X"), ("국", "I-X", "I-X"), (" ", "I-X", "I-X"), ("é", "I-X", "I-X")]
    lines += [("각", "B-Y", "I-Y"), ("가", "O", "O")]
    rows = [
        f"{part}\t{rest if place else first}"
        for character, first, rest in lines
        for place, part in enumerate(unicodedata.normalize("NFD", character))
    ]
    (sentence,), report = read("\n".join(rows))
    assert tuple(map(fold_text, sentence.words)) == clean[0].words
    assert sentence.tags == clean[0].tags
    assert sentence.text == unicodedata.normalize("NFD", "한국 é각가")
    assert [sentence.text[a:b] for a, b in sentence.offsets()] == list(sentence.words)
    assert report.tokens == 5
    assert list(report.rows) == [1, 4, 8, 10, 13]
    assert not report.noticed


def test_an_entity_that_begins_inside_a_syllable_begins_with_it() -> None:
    (sentence,), report = read("\u1112\tI-X\n\u1161\tB-Y\n\u11ab\tI-Y")
    assert sentence.tags == ("B-Y",)
    assert report.noticed == {"characters of several lines with different tags": 1}


def test_loose_jamo_and_full_width_letters_are_separate_words() -> None:
    (sentence,), _ = read("ㅋ\tO\n\u110f\tO\nＡ\tO\nㅎ\tO\nㅏ\tO")
    assert sentence.words == ("ㅋ", "\u110f", "Ａ", "ㅎ", "ㅏ")


@pytest.mark.parametrize("line", ["가나\tO", "가", "가\tO\tO", "가\t", "\tO"])
def test_invalid_lines_are_refused(line: str) -> None:
    problem = "2 characters in one line" if line == "가나\tO" else "invalid line"
    with pytest.raises(InputError, match=rf"f:2: {problem} of a KLUE file.*one character, a tab and its tag"):
        read(f"가\tO\n{line}")


@pytest.mark.parametrize("line", ["찰은\tO", "찰 \tO", "찰", "찰\tO\tO"])
def test_a_damaged_file_is_not_read_as_columns_of_words(line: str, tmp_path: Path) -> None:
    file = tmp_path / "damaged.tsv"
    before = (FILES / "klue-ner.tsv").read_text()
    assert "\n갔\t" in before
    after = re.sub("\n갔\t[^\n]*", f"\n{line}", before)
    file.write_text(after)
    number = after.split("\n").index(line) + 1
    with pytest.raises(InputError, match=rf"damaged.tsv:{number}: .*of a KLUE file.*--format conll"):
        list(TaggedSource(file))


def test_words_under_headers_are_columns(tmp_path: Path) -> None:
    file = tmp_path / "words.tsv"
    file.write_text("## id-0\t<김 씨:PS>는 갔다\n김\tB-PS\n씨\tI-PS\n는\tO\n가\tO\n았다\tO\n습니다\tO\n")
    source = TaggedSource(file)
    assert len(next(iter(source)).words) == 6
    assert source.report.choices["format"][0] == "conll"


def without_headers(path: Path) -> str:
    return "".join(f"{line}\n" for line in path.read_text().split("\n") if not line.startswith("##"))


@pytest.mark.parametrize("name", ["bare.tsv", "bare.conll", "bare"])
def test_a_file_without_headers_is_recognised_by_its_lines_of_spaces(name: str, tmp_path: Path) -> None:
    """As columns of words, each space would be a word."""
    file = tmp_path / name
    file.write_text(without_headers(FILES / "klue-ner.tsv"))
    source = TaggedSource(file)
    assert plain(list(source)) == plain(list(TaggedSource(FILES / "klue-ner.tsv")))
    assert source.report.choices["format"] == ("klue", "one character per line, also spaces")


def test_a_damaged_file_without_headers_is_not_read_as_columns_of_words(tmp_path: Path) -> None:
    file = tmp_path / "bare.tsv"
    file.write_text(without_headers(FILES / "klue-ner.tsv").replace("\n갔\t", "\n갔다\t"))
    with pytest.raises(InputError, match="2 characters in one line of a KLUE file"):
        list(TaggedSource(file))


def test_syllables_without_spaces_are_columns(tmp_path: Path) -> None:
    file = tmp_path / "syllables.tsv"
    file.write_text("김\tB-PS\n씨\tI-PS\n는\tO\n")
    source = TaggedSource(file)
    assert next(iter(source)).words == ("김", "씨", "는")
    assert source.report.choices["format"][0] == "conll"


HEADED = "## id\t<김 씨:PS>는 간다\n김\tB-PS\n \tI-PS\n씨\tI-PS\n는\tO\n \tO\n간\tO\n다\tO\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (" \tI-PS\n", "", "f:3: .*after '김': expected ' 씨는 간다', got '씨는 간다'"),
        ("간\t", "갔\t", "f:7: .*after '김 씨는 ': expected '간다', got '갔다'"),
        ("다\tO\n", "", "f:7: .*after '김 씨는 간': expected '다', got ''"),
        ("다\tO\n", "다\tO\n.\tO\n", r"f:9: .*after '김 씨는 간다': expected '', got '\.'"),
        (" \tO\n", "\n", "f:5: .*after '김 씨는': expected ' 간다', got ''"),
    ],
)
def test_lines_that_differ_from_the_header_are_refused(old: str, new: str, problem: str) -> None:
    assert len(read(HEADED)[0]) == 1
    with pytest.raises(InputError, match=problem + r".*also for spaces"):
        read(HEADED.replace(old, new))
    assert read(HEADED.replace(old, new).replace("\t<김 씨:PS>는 간다", ""))[0]  # nothing to compare


@pytest.mark.parametrize(
    "header", ["<김 씨:PS>는 간다", "김 씨는 간다", "<김:PS> <씨는:X-1> 간다 ", "김 씨는 <간다:동작>"]
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_headers_have_the_text_with_any_marks_in_any_form(header: str, form: str) -> None:
    own = HEADED.replace("<김 씨:PS>는 간다", unicodedata.normalize(form, header))
    assert read(own)[0][0].text == "김 씨는 간다"


def test_a_text_with_what_seems_to_be_a_mark_is_read_again() -> None:
    for tags in (["O"] * 7, ["O"] * 6 + ["B-X"]):
        before = Sentence(tuple("a<b:c>d"), tuple(tags))
        text = "".join(
            klue.write([replace(before, text="a<b:c>d", starts=(*range(7),), ends=(*range(1, 8),))])
        )
        assert read(text)[0][0].words == before.words


def test_the_corpora_of_the_package_agree_with_their_headers() -> None:
    for path in (Path(klue.__file__).parents[1] / "corpora" / "korean").glob("*.klue"):
        assert len(list(klue.read(lines(path), report=Report(path=str(path))))) >= 150


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(st.text("가나 다a", min_size=1, max_size=4), st.sampled_from(["", "X", "Y"])), max_size=6
    )
)
def test_texts_and_entities_survive_writing_and_reading(parts: list[tuple[str, str]]) -> None:
    text = "".join(part for part, _ in parts)
    if not text.strip():
        return
    spans, at = [], 0
    for part, label in parts:
        core = part.strip()
        if label and core:
            start = at + part.index(core)
            spans.append((start, start + len(core), label))
        at += len(part)
    kept = [i for i, c in enumerate(text) if c != " "]
    tags = from_spans(spans, len(text), IOB2)
    sentence = Sentence(
        tuple(text[i] for i in kept),
        tuple(tags[i] for i in kept),
        text=text,
        starts=tuple(kept),
        ends=tuple(i + 1 for i in kept),
    )
    (back,), _ = read("".join(klue.write([sentence])))
    assert (back.words, back.tags, back.text, back.starts) == (
        sentence.words,
        sentence.tags,
        sentence.text,
        sentence.starts,
    )


def test_words_are_written_by_character() -> None:
    text = "".join(klue.write([Sentence(("김씨는", "간다"), ("B-PS", "O"))]))
    assert text.startswith("## gonie_00000\t<김씨는:PS> 간다\n김\tB-PS\n씨\tI-PS\n는\tI-PS\n \tO\n간\tO\n")


def test_sentences_that_the_format_cannot_store_are_refused() -> None:
    for sentence, scheme in [
        (Sentence(("가",)), IOB2),
        (Sentence(("가",), ("N",)), PLAIN),
        (Sentence(("가",), ("O",), text="가\t", starts=(0,), ends=(1,)), IOB2),
    ]:
        with pytest.raises(InputError, match="the KLUE format cannot store"):
            list(klue.write([sentence], scheme=scheme))


def test_the_corpus_is_read_completely(shared_data: Path) -> None:
    path = shared_data / "ner" / "klue_ner_dev" / "klue-ner-v1.1_dev.tsv"
    report = Report(path=str(path))
    entities = 0
    for sentence in klue.read(lines(path), report=report):
        assert sentence.text is not None
        assert "".join(sentence.words) == "".join(sentence.text.split())
        entities += len(to_spans(sentence.tags or (), IOB2, "strict"))
    annotated = sum(text.startswith("## klue") for _, text in lines(path))
    begun = sum("\tB-" in text and not text.startswith("##") for _, text in lines(path))
    assert (report.sentences, annotated, entities) == (5000, 5000, begun)


def test_the_file_of_the_benchmark_is_written_and_read_again(tmp_path: Path) -> None:
    before = plain(list(TaggedSource(FILES / "klue-ner.tsv")))
    assert [(words[0], text) for words, _, text in before] == [
        ("하", "하나는 강원도로 갔다 😀"),
        ("3", "3월 2일"),
    ]
    assert again(FILES / "klue-ner.tsv", "klue", tmp_path / "again.tsv") == before
