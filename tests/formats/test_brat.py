"""brat: a folder of texts and standoff annotations, of which nothing is dropped in silence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.tagged import write
from gonie.text.types import Sentence
from support.annotation_files import GEORGE, KIM, NOTHING, essence, read_tagged, rewritten, shown
from support.format_files import FILES

FOLDER = FILES / "brat"
MET = ("North and South Korea met in Mount Vernon .", "O O B-LOC I-LOC B-Meet O B-LOC I-LOC O")


def pair(folder: Path, annotations: str, text: str = "George lives in Seoul.") -> Path:
    (folder / "a.txt").write_bytes(text.encode())
    (folder / "a.ann").write_text(annotations, "utf-8")
    return folder / "a.ann"


def test_a_folder_is_read_with_its_subfolders() -> None:
    found = identify(FOLDER)
    assert found is not None
    assert found.format.name == "brat"
    sentences, report = read_tagged(FOLDER)
    assert shown(sentences) == [GEORGE, MET, KIM, NOTHING]
    assert sentences[0].path == str(FOLDER / "doc-1.ann")
    assert report.skipped == {
        "relations": 1,
        "events": 1,
        "attributes": 1,
        "normalisations": 1,
        "notes": 1,
        "equivalence sets": 1,
        "texts without an .ann file": 1,
    }


@pytest.mark.parametrize("offsets", ["0 6", "1 7"])
def test_a_byte_order_mark_is_no_part_of_a_token(offsets: str, tmp_path: Path) -> None:
    """Editors on Windows add it after the annotation (0 6). brat counts the mark that it finds (1 7)."""
    path = pair(tmp_path, f"\ufeffT1\tPER {offsets}\tGeorge\r\n", "\ufeffGeorge sleeps.\r\n")
    assert shown(read_tagged(path)[0]) == [("George sleeps .", "B-PER O O")]
    pair(tmp_path, "", "\ufeffGeorge")
    assert shown(read_tagged(tmp_path)[0]) == [("George", "O")]


def test_discontinuous_and_overlapping_spans_are_listed() -> None:
    _, report = read_tagged(FOLDER)
    listed = [(span.line, span.text, span.reason) for span in report.misaligned]
    assert (4, "North Korea", "is discontinuous") in listed
    assert (6, "Korea", "overlaps LOC 'South Korea'") in listed


def test_pieces_that_only_a_line_end_separates_are_one_span(tmp_path: Path) -> None:
    """brat cuts a span at the end of a line."""
    path = pair(tmp_path, "T1\tLOC 0 5;6 12\tMount Vernon\n", "Mount\nVernon")
    sentences, report = read_tagged(path)
    assert shown(sentences) == [("Mount Vernon", "B-LOC I-LOC")]
    assert not report.misaligned
    write(tmp_path / "out", sentences, "brat")
    assert (tmp_path / "out" / "text-00001.ann").read_text("utf-8") == path.read_text("utf-8")


def test_a_trimmed_span_keeps_its_line(tmp_path: Path) -> None:
    _, report = read_tagged(pair(tmp_path, "T1\tPER 0 6\tGeorge\nT2\tPER 0 7\tGeorge \n", "George sleeps"))
    assert [(span.line, span.text) for span in report.misaligned] == [(2, "George")]


def test_a_span_that_occurs_twice_is_listed(tmp_path: Path) -> None:
    _, report = read_tagged(pair(tmp_path, "T1\tPER 0 6\tGeorge\nT2\tPER 0 6\tGeorge\n"))
    assert [(span.line, span.reason) for span in report.misaligned] == [(2, "overlaps PER 'George'")]


def test_one_annotation_file_is_read_with_the_text_beside_it() -> None:
    path = FOLDER / "more" / "doc-2.ann"
    found = identify(path)
    assert found is not None
    assert found.format.name == "brat"
    assert shown(read_tagged(path)[0]) == [KIM]


def test_annotations_survive_writing_and_reading(tmp_path: Path) -> None:
    sentences, _ = read_tagged(FOLDER)
    assert essence(rewritten(sentences, "brat", tmp_path / "brat")) == essence(sentences)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tPER 0 5\tGeorge", r"a.ann:1: T1 is 'Georg' in the text, but its line has 'George'"),
        ("T1\tPER 0 99\tGeorge", r"a.ann:1: invalid character offsets: 0 to 99"),
        ("T1\tPER 6 0\tGeorge", r"a.ann:1: invalid character offsets: 6 to 0"),
        ("T1 PER 0 6 George", r"a.ann:1: invalid line: 'T1 PER 0 6 George'"),
        ("T1\tPER zero 6\tGeorge", r"a.ann:1: invalid line"),
        ("George\tPER", r"a.ann:1: invalid line: 'George\\tPER'"),
    ],
)
def test_damaged_lines_are_refused(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_tagged(pair(tmp_path, line + "\n"), format="brat")


def test_annotations_without_their_text_are_refused(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "brat")
    (tmp_path / "brat" / "more" / "doc-2.txt").unlink()
    for path in (tmp_path / "brat", tmp_path / "brat" / "more" / "doc-2.ann"):
        with pytest.raises(InputError, match=r"doc-2\.ann: no doc-2\.txt beside it"):
            read_tagged(path)


def test_carriage_returns_count_as_characters(tmp_path: Path) -> None:
    path = pair(tmp_path, "T1\tLOC 9 14\tSeoul\n", "George\r\n Seoul")
    assert shown(read_tagged(path)[0]) == [("George Seoul", "O B-LOC")]


def test_labels_with_spaces_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="brat cannot store the label 'full name'"):
        write(tmp_path / "out", [Sentence(("George",), ("B-full name",))], "brat")


def test_tables_and_notes_are_not_taken_for_annotations(tmp_path: Path) -> None:
    for text in ("T1\tPER\n", "A1\tx\nB2\ty\n", "#1\tAnnotatorNotes T1\twhich\n"):
        (tmp_path / "a.tsv").write_text(text, "utf-8")
        found = identify(tmp_path / "a.tsv")
        assert found is None or found.format.name != "brat"
