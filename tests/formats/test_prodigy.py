"""Prodigy: accepted answers are read; the others are skipped and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from support.annotation_files import (
    ENTITIES,
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


def record(*spans: tuple[int, int, str], **changes: Any) -> dict[str, Any]:
    own = [{"start": start, "end": end, "label": label} for start, end, label in spans]
    return {"text": TEXT, "spans": own, "_input_hash": 7, "answer": "accept", **changes}


def test_accepted_entities_are_read() -> None:
    path = FILES / "prodigy-entities.jsonl"
    found = identify(path)
    assert found is not None
    assert (found.format.name, found.format.kind) == ("prodigy", "tagged sentences")
    sentences, report = read_tagged(path, tokenizer=None)
    assert shown(sentences) == ENTITIES
    assert report.skipped == {"rejected answers": 1, "ignored answers": 1}


@pytest.mark.parametrize(
    ("name", "more", "skipped"),
    [
        ("prodigy-labels.jsonl", [], {"rejected answers": 1}),
        ("prodigy-choices.jsonl", [("fun and dull", ("positive", "negative"))], {"ignored answers": 1}),
    ],
)
def test_accepted_labels_are_read(
    name: str, more: list[Any], skipped: dict[str, int], tmp_path: Path
) -> None:
    found = identify(FILES / name)
    assert found is not None
    assert (found.format.name, found.format.kind) == ("prodigy", "labelled texts")
    texts, report = read_texts(FILES / name)
    assert texts == [*LABELS, *more]
    assert report.skipped == skipped
    assert rewritten_texts(FILES / name, "prodigy", tmp_path / "a.jsonl") == texts


def test_each_kind_of_answer_is_refused_by_the_other_command() -> None:
    with pytest.raises(InputError, match="gonie train classify"):
        read_tagged(FILES / "prodigy-labels.jsonl")
    with pytest.raises(InputError, match="gonie train tag"):
        read_texts(FILES / "prodigy-entities.jsonl")


def test_entities_survive_writing_and_reading(tmp_path: Path) -> None:
    sentences, _ = read_tagged(FILES / "prodigy-entities.jsonl")
    assert essence(rewritten(sentences, "prodigy", tmp_path / "a.jsonl")) == essence(sentences)


def test_texts_without_tokens_are_tokenised(tmp_path: Path) -> None:
    sentences, _ = read_tagged(saved(tmp_path / "a.jsonl", record((0, 6, "PER"))))
    assert shown(sentences) == [("George lives in Seoul .", "B-PER O O O O")]


def test_tokens_of_white_space_are_left_out(tmp_path: Path) -> None:
    places = [("A", 0, 1), ("\n\n", 1, 3), ("b", 3, 4)]
    tokens = [{"text": t, "start": s, "end": e, "id": i} for i, (t, s, e) in enumerate(places)]
    path = saved(tmp_path / "a.jsonl", record((3, 4, "X"), text="A\n\nb", tokens=tokens))
    assert shown(read_tagged(path)[0]) == [("A b", "O B-X")]


def test_answers_about_the_same_text_are_merged(tmp_path: Path) -> None:
    binary = {"_view_id": "ner"}
    one, other = record((0, 6, "PER"), **binary), record((16, 21, "LOC"), **binary)
    sentences, report = read_tagged(saved(tmp_path / "a.jsonl", one, other, one))
    assert shown(sentences) == [("George lives in Seoul .", "B-PER O O B-LOC O")]
    assert report.noticed["answers about the same text (merged)"] == 2
    assert report.noticed["answers about single entities (other words of the text are read as outside)"] == 3
    labels = [{"text": TEXT, "label": label, "_input_hash": 7, "answer": "accept"} for label in ("a", "b")]
    assert read_texts(saved(tmp_path / "b.jsonl", *labels))[0] == [(TEXT, ("a", "b"))]


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (record((0, 99, "PER"), _input_hash=8), "a.jsonl:2: invalid character offsets: 0 to 99"),
        (record(answer="maybe"), "a.jsonl:2: unknown answer 'maybe'. Write accept, reject or ignore"),
        (record(text="Other"), "a.jsonl:2: not the text of line 1, which has the same _input_hash"),
        ({"image": "a.png", "answer": "accept"}, "a.jsonl:2: no key 'text'"),
    ],
)
def test_damaged_records_are_refused(damaged: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_tagged(saved(tmp_path / "a.jsonl", record((0, 6, "PER")), damaged))


def test_texts_without_a_label_are_skipped_and_counted(tmp_path: Path) -> None:
    labelled = {"text": TEXT, "label": "a", "_input_hash": 1, "answer": "accept"}
    path = saved(tmp_path / "a.jsonl", labelled, {"text": "b", "_input_hash": 2, "answer": "accept"})
    texts, report = read_texts(path)
    assert texts == [(TEXT, ("a",))]
    assert report.skipped == {"texts without a label": 1}


def test_plain_jsonl_is_not_taken_for_prodigy(tmp_path: Path) -> None:
    for row in ({"text": TEXT, "answer": "yes", "label": "a"}, {"text": TEXT, "spans": []}):
        found = identify(saved(tmp_path / "a.jsonl", row))
        assert found is not None
        assert found.format.name == "jsonl"
