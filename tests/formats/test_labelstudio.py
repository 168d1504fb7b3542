"""Label Studio: what the server exports is read, and what cannot be learned is counted or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from support.annotation_files import (
    ENTITIES,
    GEORGE,
    LABELS,
    essence,
    read_tagged,
    read_texts,
    rewritten,
    rewritten_texts,
    saved,
    shown,
)
from support.format_files import FILES

TEXT = "George lives in Seoul."


def result(start: Any, end: Any, label: str = "PER", **value: Any) -> dict[str, Any]:
    content = {"start": start, "end": end, "labels": [label], **value}
    return {"from_name": "label", "to_name": "text", "type": "labels", "value": content}


def task(*results: dict[str, Any], text: str = TEXT, **changes: Any) -> dict[str, Any]:
    return {"id": 1, "data": {"text": text}, "annotations": [{"result": list(results)}], **changes}


@pytest.mark.parametrize("name", ["labelstudio-entities.json", "labelstudio-entities.min.json"])
def test_the_entities_of_an_export_are_read(name: str) -> None:
    found = identify(FILES / name)
    assert found is not None
    assert (found.format.name, found.format.kind) == ("labelstudio", "tagged sentences")
    sentences, report = read_tagged(FILES / name)
    assert shown(sentences) == ENTITIES
    assert report.skipped["tasks without an annotation"] == 1
    assert not report.misaligned


def test_the_full_export_names_what_is_not_read() -> None:
    _, report = read_tagged(FILES / "labelstudio-entities.json")
    assert report.skipped == {"relations": 1, "cancelled tasks": 1, "tasks without an annotation": 1}


@pytest.mark.parametrize("name", ["labelstudio-choices.json", "labelstudio-choices.min.json"])
def test_the_choices_of_an_export_are_read(name: str) -> None:
    found = identify(FILES / name)
    assert found is not None
    assert (found.format.name, found.format.kind) == ("labelstudio", "labelled texts")
    texts, report = read_texts(FILES / name)
    assert texts == [*LABELS, ("fun and dull", ("positive", "negative"))]
    assert report.choices["label column"] == ("sentiment", "the only choice of the tasks")


def test_each_kind_of_export_is_refused_by_the_other_command() -> None:
    with pytest.raises(InputError, match="gonie train classify"):
        read_tagged(FILES / "labelstudio-choices.json")
    for name in ("labelstudio-entities.json", "labelstudio-entities.min.json"):
        with pytest.raises(InputError, match="gonie train tag"):
            read_texts(FILES / name)


def test_entities_survive_writing_and_reading(tmp_path: Path) -> None:
    sentences, _ = read_tagged(FILES / "labelstudio-entities.json")
    assert essence(rewritten(sentences, "labelstudio", tmp_path / "a.json")) == essence(sentences)


def test_choices_survive_writing_and_reading(tmp_path: Path) -> None:
    texts, _ = read_texts(FILES / "labelstudio-choices.json")
    again = rewritten_texts(FILES / "labelstudio-choices.json", "labelstudio", tmp_path / "a.json")
    assert again == texts


def test_old_versions_counted_utf_16_units(tmp_path: Path) -> None:
    """HumanSignal/label-studio issue 1347: after an emoji, offsets were one too large."""
    text = "💩 George 💩 sleeps"
    spans = [result(3, 9, text="George"), result(13, 19, "X", text="sleeps")]
    sentences, report = read_tagged(saved(tmp_path / "a.json", [task(*spans, text=text)]))
    assert shown(sentences) == [("💩 George 💩 sleeps", "O B-PER O B-X")]
    assert report.noticed["spans with offsets in UTF-16 units (converted)"] == 2


def test_the_ground_truth_or_the_first_valid_annotation_is_used(tmp_path: Path) -> None:
    cancelled = {"result": [result(16, 21, "X")], "was_cancelled": True}
    first, truth = {"result": []}, {"result": [result(0, 6)], "ground_truth": True}
    both = task(annotations=[cancelled, first, truth])
    one = task(annotations=[cancelled, {"result": [result(16, 21, "LOC")]}, first])
    sentences, report = read_tagged(saved(tmp_path / "a.json", [both, one]))
    assert [each.tags for each in sentences] == [("B-PER", *"OOOO"), (*"OOO", "B-LOC", "O")]
    assert report.skipped["further annotations of the same task"] == 2
    assert report.skipped["cancelled annotations of tasks with another one"] == 2


def test_the_text_is_found_by_its_object_or_by_the_spans(tmp_path: Path) -> None:
    named = task(result(0, 6)) | {"data": {"title": "A very long title", "body": TEXT}}
    named["annotations"][0]["result"][0]["to_name"] = "body"
    matched = task(result(0, 6, text="George")) | {"data": {"title": "A very long title", "body": TEXT}}
    sentences, _ = read_tagged(saved(tmp_path / "a.json", [named, matched]))
    assert [each.text for each in sentences] == [TEXT, TEXT]
    open_ = task() | {"data": {"title": "A title", "body": TEXT}}
    with pytest.raises(InputError, match="the keys are 'title', 'body'"):
        read_tagged(saved(tmp_path / "a.json", [open_]))


def test_several_labels_of_one_span_are_listed_as_overlapping(tmp_path: Path) -> None:
    sentences, report = read_tagged(saved(tmp_path / "a.json", [task(result(0, 6, labels=["PER", "ORG"]))]))
    assert shown(sentences)[0][1] == "B-PER O O O O"
    assert [span.reason for span in report.misaligned] == ["overlaps PER 'George'"]


def test_one_of_several_choices_is_named(tmp_path: Path) -> None:
    def choice(name: str, *values: str) -> dict[str, Any]:
        return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": list(values)}}

    path = saved(tmp_path / "a.json", [task(choice("tone", "angry"), choice("topic", "rent", "noise"))])
    with pytest.raises(
        InputError, match=r"several choices: tone, topic\. Name the one to learn: --label NAME"
    ):
        read_texts(path)
    assert read_texts(path, label_column="topic")[0] == [(TEXT, ("rent", "noise"))]


def test_texts_without_a_choice_are_skipped_and_counted(tmp_path: Path) -> None:
    tasks = json.loads((FILES / "labelstudio-choices.json").read_text("utf-8"))
    tasks[0]["annotations"][0]["result"] = []
    texts, report = read_texts(saved(tmp_path / "a.json", tasks))
    assert len(texts) == 3
    assert report.skipped == {"texts without a label": 1}


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([result(0, 5, text="George")], r"a.json:1: task 1: the span 0 to 5 is 'Georg' in the text"),
        ([result(0, 99)], r"a.json:1: invalid character offsets: 0 to 99"),
        ([result("0", 6)], r"invalid character offsets: '0' to 6"),
        ([result(0, 6, labels=[3])], r"task 1: invalid labels \[3\]"),
    ],
)
def test_damaged_spans_are_refused(spans: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_tagged(saved(tmp_path / "a.json", [task(*spans)]))


HTML = {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0, "endOffset": 6}


@pytest.mark.parametrize(
    ("type", "value", "name"),
    [
        ("hypertextlabels", HTML | {"hypertextlabels": ["PER"]}, "hypertextlabels"),
        ("labels", HTML | {"labels": ["PER"]}, "labels in HTML, dialogues or images"),
        ("rating", {"rating": 3}, "rating"),
        ("choices", {"start": 0, "end": 6, "choices": ["PER"]}, "choices for single spans"),
    ],
)
def test_an_export_without_readable_annotations_is_refused_and_says_what_it_has(
    type: str, value: dict[str, Any], name: str, tmp_path: Path
) -> None:
    """Such texts would train as texts without entities."""
    full = [task({"from_name": "x", "to_name": "text", "type": type, "value": value})] * 2
    flat = [{"id": i, "text": TEXT, "x": [value], "annotation_id": i, "lead_time": 1.0} for i in range(2)]
    for tasks in (full, flat):
        path = saved(tmp_path / "a.json", tasks)
        has = f"; the export has 2 results of type {name}. gonie learns entities from the tag Labels"
        with pytest.raises(InputError, match=f"no task has an entity{has}"):
            read_tagged(path)
        with pytest.raises(InputError, match=f"no task has a choice{has}"):
            read_texts(path)


def test_other_results_beside_entities_are_counted_by_their_type(tmp_path: Path) -> None:
    rating = {"from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": 3}}
    sentences, report = read_tagged(saved(tmp_path / "a.json", [task(result(0, 6), rating)]))
    assert sentences[0].tags == ("B-PER", *"OOOO")
    assert report.skipped == {"results of type rating": 1}


def test_damaged_tasks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="task 2 is not a JSON object"):
        read_tagged(saved(tmp_path / "a.json", [task(), 3]))
    with pytest.raises(InputError, match="task 1: invalid results"):
        read_tagged(saved(tmp_path / "a.json", [task(annotations=[{"result": [3]}])]))
    with pytest.raises(InputError, match="not a Label Studio export"):
        read_tagged(saved(tmp_path / "a.json", [{"text": "a", "spans": []}]), format="labelstudio")


def test_one_task_is_an_export_too(tmp_path: Path) -> None:
    assert shown(read_tagged(saved(tmp_path / "a.json", task(result(0, 6), result(16, 21, "LOC"))))[0]) == [
        GEORGE
    ]
