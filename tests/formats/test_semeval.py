"""SemEval-2010 task 8: each sentence gets its own relation."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.formats.semeval import is_sentence, read_task8
from gonie.text.labelled_text import LabelledRow, TextOptions
from gonie.text.report import Report

TWO = [
    '1\t"The <e1>staff</e1> "of" a <e2>shop</e2>."',
    "Member-Collection(e1,e2)",
    "Comment: said",
    "",
    '2\t"<e1>a</e1> <e2>b</e2>"',
    "Other",
]


def rows(lines: list[str], **options: object) -> tuple[list[LabelledRow], Report]:
    report = Report(path="f")
    return list(read_task8(enumerate(lines, 1), TextOptions(**options), report)), report  # type: ignore[arg-type]


def test_sentences_and_their_relations_are_read() -> None:
    found, report = rows(TWO)
    assert found == [
        LabelledRow(1, 'The <e1>staff</e1> "of" a <e2>shop</e2>.', ("Member-Collection(e1,e2)",)),
        LabelledRow(5, "<e1>a</e1> <e2>b</e2>", ("Other",)),
    ]
    assert report.comments == 1


def test_sentences_without_relations_are_read() -> None:
    found, _ = rows([TWO[0], TWO[4]], label_column=None)
    assert [row.labels for row in found] == [(), ()]
    assert [row.line for row in rows(TWO, label_column=None)[0]] == [1, 5]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (TWO[:1], "f:1: no relation on the line after"),
        ([TWO[0], *TWO[2:]], "f:1: no relation"),
        ([TWO[0], TWO[4]], "f:1: no relation"),
        ([*TWO, "Other"], "f:7: invalid line.*a number, a tab and a quoted sentence"),
        (["1\tno quotation marks"], "f:1: invalid line.*a number, a tab"),
    ],
)
def test_a_misplaced_line_is_refused(lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows(lines)


def test_sentence_lines_are_recognised() -> None:
    assert is_sentence(TWO[0])
    assert not is_sentence('1\t"no marks"')
    assert not is_sentence("1\t<e1>a</e1>")


@pytest.mark.parametrize(("name", "number"), [("TRAIN_FILE.TXT", 8000), ("TEST_FILE_FULL.TXT", 2717)])
def test_the_published_files_are_read_completely(shared_data: Path, name: str, number: int) -> None:
    texts = list(LabelledSource(shared_data / "classify" / "semeval2010_task8" / name))
    assert len(texts) == number
    assert len({text.labels for text in texts}) == 19
    assert all([mark.label for mark in text.marks] == ["e1", "e2"] for text in texts)
    assert not any("<e" in text.text for text in texts)
