"""Labelled texts in any format: detection is reported, skipped rows are counted, bad files are refused."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import unicodedata
from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource, read_texts
from gonie.formats.table import TEXT_FORMATS
from gonie.text.labelled_text import LabelledText, TextOptions
from gonie.text.report import Report
from gonie.text.types import Span

TABLE = "text\tlabel\ngood\tpos\n \tneg\nbad\tneg\n"


def read(path: Path, content: str | bytes, **options: object) -> tuple[list[LabelledText], Report]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    source = LabelledSource(path, TextOptions(**options))  # type: ignore[arg-type]
    return list(source), source.report


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.tsv", TABLE, "tsv"),
        ("a", TABLE, "tsv"),
        ("a.csv", "text,label\ngood,pos\n,neg\nbad,neg\n", "csv"),
        ("a.txt", 'id,"text",label\n1,good,pos\n2,,neg\n3,bad,neg\n', "csv"),
        (
            "a.jsonl",
            '{"text":"good","label":"pos"}\n{"text":""}\n{"text":"bad","label":"neg"}\n',
            "jsonl",
        ),
        ("a", '{"text":"good","label":"pos"}\n{"text":""}\n{"text":"bad","label":"neg"}', "jsonl"),
        ("a", '1\t"<e1>good</e1>"\npos\n\n2\t"<e1></e1>"\nx\n3\t"bad"\nneg', "semeval"),
    ],
)
def test_every_format_is_detected_and_gives_the_same_texts(
    tmp_path: Path, name: str, content: str, kind: str
) -> None:
    texts, report = read(tmp_path / name, content)
    assert [(text.text, text.labels) for text in texts] == [("good", ("pos",)), ("bad", ("neg",))]
    assert report.choices["format"][0] == kind
    assert (report.texts, report.skipped["rows with an empty text"]) == (2, 1)
    again, _ = read(tmp_path / name, content, format=kind)
    assert again == texts


def test_a_folder_of_parallel_files_is_read(tmp_path: Path) -> None:
    (tmp_path / "seq.in").write_text("good\nbad\n")
    (tmp_path / "label").write_text("pos\nneg\n")
    source = LabelledSource(tmp_path)
    assert [text.labels for text in source] == [("pos",), ("neg",)]
    assert source.report.choices["format"] == ("parallel", "a folder with seq.in and label")
    with pytest.raises(InputError, match="expected a file, got a folder"):
        list(LabelledSource(tmp_path.parent))


def test_line_endings_byte_order_mark_and_compression_do_not_matter(tmp_path: Path) -> None:
    plain, _ = read(tmp_path / "a.tsv", TABLE)
    expected = [(text.text, text.labels, text.line) for text in plain]
    changed = b"\xef\xbb\xbf" + TABLE.replace("\n", "\r\n").encode()
    for name, content in {
        "b.tsv": changed,
        "c.tsv.gz": gzip.compress(changed),
        "d.tsv.xz": lzma.compress(changed),
    }.items():
        texts, report = read(tmp_path / name, content)
        assert [(text.text, text.labels, text.line) for text in texts] == expected
        assert report.choices["format"] == ("tsv", "by the suffix .tsv")
    quoted = b'\xef\xbb\xbftext,label\r\n"a\r\nb",pos\r\n'
    assert read(tmp_path / "e.csv", quoted)[0][0].text == "a\nb"


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"text\tlabel\na\0b\tx\n", ":2: NUL byte in a text file"),
        (b"text\tlabel\n\xff\tx\n", ":2: invalid UTF-8: 0xff"),
    ],
)
def test_files_that_are_not_text_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / name, content)


def test_a_file_without_a_text_is_refused(tmp_path: Path) -> None:
    for content in ("text\tlabel\n", "text\tlabel\n \tx\n"):
        with pytest.raises(InputError, match="no texts in the file"):
            read(tmp_path / "a", content)


def test_a_line_of_a_megabyte_is_read(tmp_path: Path) -> None:
    long = "가 " * 500_000
    for name, content in {
        "a.tsv": f"text\tlabel\n{long}\tx\n",
        "a.jsonl": f'{{"text":"{long}","label":1}}',
    }.items():
        texts, _ = read(tmp_path / name, content)
        assert texts[0].text == long


def test_marks_named_in_the_options_become_spans(tmp_path: Path) -> None:
    texts, _ = read(tmp_path / "a.tsv", "text\tlabel\nI saw <x>him</x>\tyes\n", marks=("x",))
    assert texts == [
        LabelledText("I saw him", ("yes",), (Span(6, 9, "x", "him"),), str(tmp_path / "a.tsv"), 2)
    ]
    with pytest.raises(InputError, match=r"a\.tsv:2: unpaired mark"):
        read(tmp_path / "a.tsv", "text\tlabel\nI <x>saw\tyes\n", marks=("x",))


def test_labels_are_not_read_unless_requested(tmp_path: Path) -> None:
    texts, report = read(tmp_path / "a.tsv", TABLE, label_column=None)
    assert [text.labels for text in texts] == [(), ()]
    assert report.choices["labels"] == ("none", "not requested")


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(TABLE)
    with pytest.raises(InputError, match=f"unknown format 'xml'. Choose one of {', '.join(TEXT_FORMATS)}"):
        list(read_texts(tmp_path / "a", TextOptions(format="xml"), Report()))


def test_a_file_is_read_repeatedly_but_a_stream_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.tsv").write_text(TABLE)
    source = LabelledSource(tmp_path / "a.tsv")
    assert list(source) == list(source)
    assert source.report.texts == 2, "the report is of one pass"
    assert [text.labels for text in source.with_options(label_column=None)] == [(), ()]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    stream = LabelledSource("-")
    assert len(list(stream)) == 2
    with pytest.raises(InputError, match="standard input: this input is read more than once"):
        list(stream.with_options(label_column=None))


def test_the_nsmc_reviews_are_read_completely(shared_data: Path) -> None:
    path = shared_data / "classify" / "nsmc" / "ratings_test.txt"
    source = LabelledSource(path, TextOptions(text_column="document"))
    assert {text.labels for text in source} == {("0",), ("1",)}
    assert source.report.texts + source.report.skipped["rows with an empty text"] == 50_000


def test_a_table_with_semicolons_is_read(tmp_path: Path) -> None:
    """Excel writes CSV with semicolons in many countries."""
    path = tmp_path / "a.csv"
    path.write_text('text;label\n"good; really";pos\nbad, too;neg\n', "utf-8")
    assert [(each.text, each.labels) for each in LabelledSource(path)] == [
        ("good; really", ("pos",)),
        ("bad, too", ("neg",)),
    ]


def test_a_list_written_as_text_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for cell in ('"[""speed"", ""noise""]"', "\"['speed', 'noise']\"", '"[{""start"": 0}]"'):
        path.write_text(f"text,label\ngood,{cell}\n", "utf-8")
        with pytest.raises(InputError, match="the label is a list that is written as text"):
            list(LabelledSource(path))


def test_labels_of_a_decomposed_file_are_composed(tmp_path: Path) -> None:
    text = unicodedata.normalize("NFD", "text\tlabel\n국회\t정치\n야구\t스포츠\n")
    texts, _ = read(tmp_path / "a.tsv", text)
    assert [own.labels for own in texts] == [("정치",), ("스포츠",)]
    assert texts[0].text == unicodedata.normalize("NFD", "국회"), "the text stays as it was written"
