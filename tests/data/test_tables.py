"""Tables: a quotation mark or a stray tab must not move a text to another label."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.data.report import Report
from gonie.data.tables import Row, read_rows, read_sentences, write_sentences
from gonie.data.types import Sentence
from gonie.errors import InputError


def table(path: Path, content: str, **names: str) -> tuple[list[Row], Report]:
    path.write_text(content, encoding="utf-8")
    report = Report()
    return list(read_rows(path, report=report, **names)), report


def test_columns_by_header(tmp_path: Path) -> None:
    content = 'id\tdocument\tlabel\n1\t"굳" ㅋ\t1\n2\t\t0\n3\ta "b\t0\n'
    rows, report = table(tmp_path / "a.tsv", content, text="document")
    path = str(tmp_path / "a.tsv")
    assert rows == [Row('"굳" ㅋ', "1", path, 2), Row('a "b', "0", path, 4)]
    assert report.skipped == {"rows with an empty text": 1}


def test_two_columns_need_no_header(tmp_path: Path) -> None:
    rows, _ = table(tmp_path / "a", "good film\tpos\n\nbad film\tneg")
    assert [(r.text, r.label) for r in rows] == [("good film", "pos"), ("bad film", "neg")]
    rows, _ = table(tmp_path / "a", "label\ttext\npos\tgood film")
    assert [(r.text, r.label) for r in rows] == [("good film", "pos")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text\tlabel\na\tb\tc\n", ":2: expected 2 columns apart by tabs, got 3"),
        ("a\tb\tc\n", ":1: expected a header with the columns text and label"),
        ("", "expected a table, got an empty file"),
        ("text\tlabel\n", "at least one row"),
        ("text\tlabel\n\tx\n", "at least one row"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        table(tmp_path / "a", text)


def test_the_film_reviews(shared_data: Path) -> None:
    report = Report()
    path = shared_data / "classify" / "nsmc" / "ratings_test.txt"
    rows = list(read_rows(path, report=report, text="document"))
    assert len(rows) + report.skipped["rows with an empty text"] == 50_000
    assert {row.label for row in rows} == {"0", "1"}


def sentences(*rows: str) -> tuple[list[Sentence], Report]:
    report = Report(path="f")
    return list(read_sentences(enumerate(rows, 1), report=report)), report


def test_a_sentence_a_line() -> None:
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
        (["a\tO", "b"], "f:2: expected tokens, a tab and their tags, got 0 tabs"),
        (["a", "b\tO"], "f:2: expected tokens without a tab"),
        (["a\tO\tO"], "f:1: .*got 2 tabs"),
    ],
)
def test_uneven_lines_are_refused(rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sentences(*rows)


def test_sentences_written_read_back() -> None:
    given = [Sentence(("a", "b"), ("O", "B-X")), Sentence(("c",), ("O",))]
    text = "".join(write_sentences(given))
    back, _ = sentences(*text.splitlines())
    assert [(s.words, s.tags) for s in back] == [(s.words, s.tags) for s in given]
    with pytest.raises(InputError, match="without blanks, got 'a b'"):
        list(write_sentences([Sentence(("a b",), ("O",))]))
