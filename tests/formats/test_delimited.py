"""TSV and CSV tables: quotation marks, stray tabs and line breaks must not assign a text a wrong label."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.formats.table import TEXT_FORMATS
from gonie.text.labelled_text import LabelledRow, TextOptions
from gonie.text.report import Report
from support.contents import content as content_of


def rows(format: str, content: str, **options: object) -> tuple[list[LabelledRow], Report]:
    report = Report(path="f")
    read = TEXT_FORMATS[format].read
    return list(read(content_of(content), TextOptions(**options), report)), report  # type: ignore[arg-type]


def test_columns_are_found_by_the_header() -> None:
    content = 'id\tdocument\tlabel\n1\t"굳" ㅋ\t1\n2\t\t0\n3\ta "b\t0\n'
    found, report = rows("tsv", content, text_column="document")
    assert found == [
        LabelledRow(2, '"굳" ㅋ', ("1",)),
        LabelledRow(3, "", ()),
        LabelledRow(4, 'a "b', ("0",)),
    ]
    assert report.choices["header"][0] == "id, document, label"


def test_two_columns_need_no_header() -> None:
    found, report = rows("tsv", "good film\tpos\n\nbad film\tneg")
    assert found == [LabelledRow(1, "good film", ("pos",)), LabelledRow(3, "bad film", ("neg",))]
    assert report.choices["header"][0] == "none"
    assert report.skipped == {"empty lines": 1}
    assert rows("tsv", "label\ttext\npos\tgood film")[0] == [LabelledRow(2, "good film", ("pos",))]


def test_texts_without_labels_are_read() -> None:
    unlabelled = {"label_column": None}
    assert rows("tsv", "one\n\ntwo", **unlabelled)[0] == [
        LabelledRow(1, "one", ()),
        LabelledRow(3, "two", ()),
    ]
    assert rows("tsv", "id\ttext\n7\tone", **unlabelled)[0] == [LabelledRow(2, "one", ())]
    assert rows("tsv", "one\tpos", **unlabelled)[0] == [LabelledRow(1, "one", ())]


def test_a_missing_label_is_none_unless_the_text_is_empty() -> None:
    assert rows("tsv", "text\tlabel\nfilm\t ")[0] == [LabelledRow(2, "film", None)]
    assert rows("tsv", "text\tlabel\n \t")[0] == [LabelledRow(2, " ", ())]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text\tlabel\na\tb\tc\n", "f:2: expected 2 columns separated by tabs, got 3"),
        ("a\tb\tc\n", "f:1: no column text; the columns are 'a, b, c'. Name .* --text NAME"),
        (
            "sentence\ttitle\tlabel\na\tb\tc\n",
            "f:1: no column text; the columns are 'sentence, title, label'",
        ),
        ("text\tlabel\tlabel\na\tb\tb\n", "f:1: two columns are called 'label'"),
        ("one column\n", "f:1: no column text; the columns are 'one column'"),
        ("x" * 1_000_000 + "\n", "columns are 'x{200}…'"),
    ],
)
def test_bad_tables_are_refused(content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows("tsv", content)


def test_a_quoted_field_may_contain_quotes_commas_and_line_breaks() -> None:
    content = 'label,text\npos,"good, he said: ""yes""\n\nand left"\n\nneg,bad\n'
    found, report = rows("csv", content)
    assert found == [
        LabelledRow(2, 'good, he said: "yes"\n\nand left', ("pos",)),
        LabelledRow(6, "bad", ("neg",)),
    ]
    assert report.skipped == {"empty lines": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('text,label\na,b\n"never closed,c\n\nd,e\n', "f:3: invalid CSV row.*Close every quotation mark"),
        ('text,label\n"a"b,c\n', "f:2: invalid CSV row"),
        ("text,label\ngood, really,pos\n", "f:2: expected 2 columns separated by commas, got 3.*Quote texts"),
        ("text,label\na\rb,c\n", "f:2: invalid CSV row"),
        (f'text,label\n"{"x" * 1_000_000}",c\n', "f:2: invalid CSV row: field larger"),
    ],
)
def test_bad_csv_is_refused_with_the_first_line_of_the_row(content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows("csv", content)


texts = st.text(st.sampled_from('ab ,"\n가'), min_size=1, max_size=8).filter(str.strip)


@given(st.lists(st.tuples(texts, st.sampled_from(["x", "y,z"])), min_size=1, max_size=5))
def test_csv_written_by_a_spreadsheet_is_read_unchanged(pairs: list[tuple[str, str]]) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([("text", "label"), *pairs])
    found, _ = rows("csv", written.getvalue())
    assert [(row.text, row.labels) for row in found] == [(text, (label,)) for text, label in pairs]
