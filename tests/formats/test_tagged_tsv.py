"""TSV with one sentence and its tags per line: tags stay with their words."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.formats.tagged_tsv import read_sentences, write_sentences
from gonie.text.report import Report
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
