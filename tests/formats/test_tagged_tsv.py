"""TSV with one sentence and its tags per line: tags stay with their words."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.tagged import TaggedSource, detect_format
from gonie.formats.tagged_tsv import read_sentences, write_sentences
from gonie.text.report import MANY, Report
from gonie.text.types import Sentence


def sentences(*rows: str) -> tuple[list[Sentence], Report]:
    report = Report(path="f")
    return list(read_sentences(enumerate(rows, 1), report=report)), report


def test_each_line_is_a_sentence_with_its_tags() -> None:
    found, report = sentences("Ann left\tB-P O", "", "hi\tO")
    assert [(s.words, s.tags, s.line) for s in found] == [
        (("Ann", "left"), ("B-P", "O"), 1),
        (("hi",), ("O",), 3),
    ]
    assert (report.sentences, report.tokens, report.skipped.total()) == (2, 3, 1)
    assert sentences("just words")[0][0].tags is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["Ann left\tO"], "f:1: expected as many tags as tokens, got 2 tokens and 1 tags"),
        (["a\tO", "b"], "f:2: expected 2 tab-separated columns .*, got 1"),
        (["a", "b\tO"], "f:2: expected 1 column"),
        (["a\tO\tO"], "f:1: expected 2 .*got 3"),
    ],
)
def test_uneven_lines_are_refused(rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sentences(*rows)


def test_sentences_survive_writing_and_reading() -> None:
    given = [Sentence(("a", "b"), ("O", "B-X")), Sentence(("c",), ("O",))]
    text = "".join(write_sentences(given))
    back, _ = sentences(*text.splitlines())
    assert [(s.words, s.tags) for s in back] == [(s.words, s.tags) for s in given]
    with pytest.raises(InputError, match="cannot store words or tags with spaces: 'a b'"):
        list(write_sentences([Sentence(("a b",), ("O",))]))


@pytest.mark.parametrize("at", [0, 19, 11_999])
@pytest.mark.parametrize("blank", [" {}\t{}", "{} \t{}", "{}\t {}", "{}\t{} "])
def test_a_stray_blank_does_not_make_every_token_a_sentence(tmp_path: Path, blank: str, at: int) -> None:
    """Otherwise a model would learn from single words, without a word of warning."""
    rows = [("Anna", "B-PER"), ("Lee", "I-PER"), ("left", "O"), (".", "O")] * 3001
    lines = ["\t".join(row) for row in rows]
    lines[at] = blank.format(*rows[at])
    sentences = ["\n".join(lines[start : start + 4]) for start in range(0, len(lines), 4)]
    path = tmp_path / "train.conll"
    path.write_text("\n\n".join(sentences) + "\n", "utf-8")
    source = TaggedSource(path)
    assert {sentence.words for sentence in source} == {("Anna", "Lee", "left", ".")}
    assert not any("warning" in line for line in source.report.lines())


def test_a_file_with_a_single_sentence_of_several_words_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "tagged"
    path.write_text("hi\tO\n" * 20 + "Anna left\tB-PER O\n", "utf-8")
    assert detect_format(path) == "tsv"


def test_many_sentences_of_one_token_get_a_warning() -> None:
    for number in (MANY - 1, MANY):
        report = Report(sentences=number, tokens=number)
        assert any("every sentence has only one token" in line for line in report.lines()) == (number == MANY)
    assert not any("one token" in line for line in Report(sentences=MANY, tokens=MANY + 1).lines())
