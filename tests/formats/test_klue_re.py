"""KLUE's relations: the marks are where the subject and the object are."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.labelled import LabelledSource
from gonie.text.labelled_text import TextOptions
from support.format_files import FILES, texts_again

FILE = FILES / "klue-re.json"
ROW: dict[str, Any] = json.loads(FILE.read_text("utf-8"))[0]


def marked(source: LabelledSource) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    return [(each.text, each.labels, {mark.label: mark.text for mark in each.marks}) for each in source]


def source(path: Path, *rows: dict[str, Any], **options: Any) -> LabelledSource:
    path.write_text(json.dumps(rows), "utf-8")
    return LabelledSource(path, TextOptions(**options))


def test_subject_and_object_are_marked() -> None:
    found = LabelledSource(FILE)
    assert marked(found) == [
        ("😀 하나는 강원대학교의 총장이다.", ("per:title",), {"subj": "하나", "obj": "총장"}),
        (
            "가나다전자는 서울에 있다.",
            ("org:place_of_headquarters",),
            {"subj": "가나다전자", "obj": "서울"},
        ),
        ("가나다전자는 서울에 있다.", ("no_relation",), {"subj": "서울", "obj": "가나다"}),
    ]
    assert found.report.choices["format"][0] == "klue-re"
    assert found.report.noticed == {"types of entities that are not used": 6}


def test_it_is_recognised_before_a_plain_list_of_objects() -> None:
    recognised = identify(FILE)
    assert recognised is not None
    assert recognised.format.name == "klue-re"


def test_the_marks_of_a_recipe_name_the_subject_and_the_object() -> None:
    found = LabelledSource(FILE, TextOptions(marks=("e1", "e2")))
    assert marked(found)[2][2] == {"e1": "서울", "e2": "가나다"}


def test_writing_and_reading_gives_the_same_texts(tmp_path: Path) -> None:
    before = [(each.text, each.labels, each.marks) for each in LabelledSource(FILE)]
    after = texts_again(FILE, "klue-re", tmp_path / "again.json")
    assert [(each.text, each.labels, each.marks) for each in after] == before


def test_lines_of_json_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "re.jsonl").write_text(json.dumps(ROW) + "\n" + json.dumps(ROW) + "\n", "utf-8")
    assert [each[2] for each in marked(LabelledSource(tmp_path / "re.jsonl"))] == [
        {"subj": "하나", "obj": "총장"}
    ] * 2


@pytest.mark.parametrize("separator", [",", "\t"])
def test_the_entities_of_a_csv_file_are_read(separator: str, tmp_path: Path) -> None:
    """pandas writes them as text; without them sentences would be classified as if they had no entities."""
    path = tmp_path / "f.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerows([list(ROW), list(ROW.values())])
    assert marked(LabelledSource(path)) == marked(source(tmp_path / "f.json", ROW))


def test_texts_without_a_label_are_counted(tmp_path: Path) -> None:
    found = source(tmp_path / "f.json", ROW, {**ROW, "label": None})
    assert len(list(found)) == 1
    assert found.report.skipped == {"texts without a label": 1}
    assert [each.labels for each in source(tmp_path / "g.json", ROW, label_column=None)] == [()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"object_entity": None}, "2: no entity under 'object_entity'"),
        ({"object_entity": {"word": "총장"}}, "2: invalid character offsets: None to None"),
        (
            {"object_entity": {"word": "총장", "start_idx": 13, "end_idx": 99}},
            "2: invalid character offsets: 13 to 100",
        ),
        (
            {"object_entity": {"word": "총장", "start_idx": 13, "end_idx": 15}},
            "2: the object_entity is '총장', but characters 13 to 15 are '총장이'",
        ),
        ({"sentence": None}, "2: expected a string under 'sentence'"),
        ({"label": 3}, "2: the label under 'label' is not a text: 3"),
        ({"sentence": "<subj> 하나는 강원대학교의 총장이다."}, "2: the sentence contains the mark <subj>"),
    ],
)
def test_damaged_rows_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        list(source(tmp_path / "f.json", ROW, ROW | change))


def test_other_numbers_of_marks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected two marks.*got e1.*data.marks"):
        list(LabelledSource(FILE, TextOptions(marks=("e1",))))
    (tmp_path / "plain.jsonl").write_text('{"text": "a", "label": "b"}\n', "utf-8")
    with pytest.raises(InputError, match="klue-re stores two marks and one label per text, not 0 and 1"):
        texts_again(tmp_path / "plain.jsonl", "klue-re", tmp_path / "out.json")
