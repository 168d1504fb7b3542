"""TSV and CSV tables: quotation marks, stray tabs and line breaks must not assign a text a wrong label."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

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
    content = 'id\tdocument\tlabel\tdate\n1\t"굳" ㅋ\t1\t\n2\t\t0\t\n3\ta "b\t0\t\n'
    found, report = rows("tsv", content, text_column="document")
    assert found == [
        LabelledRow(2, '"굳" ㅋ', ("1",), "1"),
        LabelledRow(3, "", (), "2"),
        LabelledRow(4, 'a "b', ("0",), "3"),
    ]
    assert report.choices["header"][0] == "id, document, label, date"
    assert report.choices["ignored columns"][0] == "date"


def test_two_columns_need_no_header() -> None:
    found, report = rows("tsv", "good film\tpos\n\nbad film\tneg")
    assert found == [LabelledRow(1, "good film", ("pos",)), LabelledRow(3, "bad film", ("neg",))]
    assert report.choices["header"][0] == "none"
    assert report.skipped == {"empty lines": 1}
    assert rows("tsv", "label\ttext\npos\tgood film")[0] == [LabelledRow(2, "good film", ("pos",))]


@pytest.mark.parametrize("format", ["tsv", "csv"])
def test_the_column_of_labels_is_found_by_its_values(format: str) -> None:
    """SMS Spam and others have the label first; the messages must not become labels."""
    content = "ham\tsee you at five\nspam\twin a prize now\nham\tcall me back\n"
    found, report = rows(format, content.replace("\t", "," if format == "csv" else "\t"))
    assert found[:2] == [
        LabelledRow(1, "see you at five", ("ham",)),
        LabelledRow(2, "win a prize now", ("spam",)),
    ]
    assert report.choices["columns"] == ("label, text", "by their values")


@pytest.mark.parametrize("number", [1, 2])
def test_in_a_few_rows_the_longer_cells_are_the_texts(number: int) -> None:
    labels, texts = ["ham", "spam"][:number], ["see you at five", "win a prize now"][:number]
    expected = [LabelledRow(at + 1, texts[at], (labels[at],)) for at in range(number)]
    for columns in (labels, texts), (texts, labels):
        content = "".join(f"{one}\t{two}\n" for one, two in zip(*columns, strict=True))
        assert rows("tsv", content)[0] == expected


def test_columns_without_a_header_are_named_by_number() -> None:
    content = "7\tham\tsee you\n8\tspam\tbuy now\n"
    found, report = rows("tsv", content, text_column="2", label_column="1")
    assert found == [LabelledRow(1, "see you", ("ham",)), LabelledRow(2, "buy now", ("spam",))]
    assert report.choices["header"][0] == "none"
    two = "see you\tham\nbuy now\tspam\n"
    assert rows("tsv", two, text_column="0")[0][1] == LabelledRow(2, "buy now", ("spam",))
    for options, missing in (
        ({"text_column": "2"}, "label"),
        ({"text_column": "2", "label_column": "9"}, "9"),
    ):
        with pytest.raises(InputError, match=f"f:1: no column {missing}; the columns are '0, 1, 2'"):
            rows("tsv", content, **options)
    with pytest.raises(InputError, match="no column 1; the columns are 'text, label'"):
        rows("tsv", "text\tlabel\na\tb\n", text_column="1")


def test_a_name_that_is_not_in_the_header_is_never_given_to_the_first_row() -> None:
    with pytest.raises(InputError, match="f:1: no column body; the columns are 'Body, mood'"):
        rows("tsv", "Body\tmood\ngood film\tpos\n", text_column="body")


def test_an_unknown_header_is_refused_wherever_its_label_is() -> None:
    content = "kind\tthe message\n" + "".join(
        f"{('ham', 'spam')[at % 2]}\tcall me at {at}\n" for at in range(6)
    )
    with pytest.raises(InputError, match=r"seems to be a header.*--text 'the message' --label kind"):
        rows("tsv", content)


def test_columns_without_a_name_are_ignored_and_their_content_is_counted() -> None:
    """Kaggle's spam.csv has three of them, with the rest of texts in a few rows."""
    content = "v1,v2,,,\nham,see you,,,\nspam,buy now, or never,,\n"
    found, report = rows("csv", content, text_column="v2", label_column="v1")
    assert found == [LabelledRow(2, "see you", ("ham",)), LabelledRow(3, "buy now", ("spam",))]
    assert report.choices["header"][0] == "v1, v2"
    assert report.noticed == {"rows with content in columns without a name, which is ignored": 1}
    recognise = TEXT_FORMATS["csv"].recognise
    named = replace(content_of(content).head, columns=("v2", "v1"))
    assert recognise(named) == "it has the columns v2 and v1"


def test_texts_without_labels_are_read() -> None:
    unlabelled = {"label_column": None}
    assert rows("tsv", "one\n\ntwo", **unlabelled)[0] == [
        LabelledRow(1, "one", ()),
        LabelledRow(3, "two", ()),
    ]
    assert rows("tsv", "id\ttext\n7\tone", **unlabelled)[0] == [LabelledRow(2, "one", (), "7")]
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


def test_a_tsv_that_pandas_quoted_is_read_like_csv() -> None:
    """Otherwise doubled quotation marks stay in the texts, and a line break inside a text cuts it."""
    for text in ('he said ""hi""', "one\ntwo", "one\ttwo"):
        found, report = rows("tsv", f'text\tlabel\n"{text}"\tpos\nplain\tneg\n')
        assert [row.text for row in found] == [text.replace('""', '"'), "plain"]
        assert report.choices["quoting"][0] == "as in CSV"
        assert rows("csv", f'text\tlabel\n"{text}"\tpos\nplain\tneg\n')[0] == found


@pytest.mark.parametrize("text", ['"굳" ㅋ', 'a "b', '"all of it"', '"never closed', '""', '5" or ""6""'])
def test_quotation_marks_of_a_tsv_without_quoting_are_kept(text: str) -> None:
    found, report = rows("tsv", f"text\tlabel\n{text}\tpos\nplain\tneg\n")
    assert [row.text for row in found] == [text, "plain"]
    assert "quoting" not in report.choices


@pytest.mark.parametrize("text", ['"Quoted" he said', '"never closed'])
@pytest.mark.parametrize("more", [0, 300])
def test_a_stray_tab_is_told_where_it_is_if_quoting_does_not_explain_it(text: str, more: int) -> None:
    content = f"ham\tsee you\nspam\tbuy now\nham\t{text}\nham\tone\ttwo\n" + "ham\tplain\n" * more
    told = r"f:4: expected 2 columns separated by tabs, got 3.*--format csv \(in a recipe data.format\)"
    with pytest.raises(InputError, match=told):
        rows("tsv", content)
    many = "".join(f"{('ham', 'spam')[at % 2]}\tcall me at {at}\n" for at in range(20))
    found = content_of(many + "ham\tone\ttwo\n").head
    assert TEXT_FORMATS["tsv"].recognise(found) == "its first column has 2 labels, the other one texts"


def test_the_first_lines_may_end_inside_a_quoted_cell() -> None:
    read = content_of("text\tlabel\n" + '"one\ntwo"\tpos\n' * 200)
    found = TEXT_FORMATS["tsv"].read(read, TextOptions(), Report(path="f"))
    assert {row.text for row in found} == {"one\ntwo"}


def test_messages_name_the_separators_that_a_csv_table_has() -> None:
    for separator, name in (("\t", "tabs"), (";", "semicolons")):
        told = f"f:2: expected 2 columns separated by {name}, got 3. Quote texts that contain {name}"
        with pytest.raises(InputError, match=told):
            rows("csv", f"text{separator}label\na{separator}b{separator}c\n")


def test_quoted_cells_after_the_first_lines_of_a_tsv_are_counted() -> None:
    many = "text\tlabel\n" + "plain\tneg\n" * 300
    read = content_of(many + '"he said ""hi"""\tpos\n')
    report = Report(path="f")
    cut = replace(read, head=replace(read.head, lines=read.head.lines[:200]))
    assert list(TEXT_FORMATS["tsv"].read(cut, TextOptions(), report))[-1].text == '"he said ""hi"""'
    assert "1 line with doubled quotation marks" in "\n".join(report.lines())


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
