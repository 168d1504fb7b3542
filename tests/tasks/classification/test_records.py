"""Answers of classifiers to rows of a file, and the records of these answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.runtime.bundle import write_bundle
from gonie.tasks.classification.records import TextNotes, TextRecords, label_record
from gonie.text.report import Report
from gonie.text.types import Classification


@pytest.fixture
def make(text_bundle: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Builds a classifier whose recipe has this ``data`` section."""

    def made(**data: Any) -> Any:
        write_bundle(tmp_path / "bundle", text_bundle(recipe={"data": data}))
        return gonie.load(tmp_path / "bundle")

    return made


def test_a_record_has_the_given_columns_and_the_label(make: Callable[..., Any]) -> None:
    given = {"id": '"x"', "body": '"good film"', "label": '"gold"'}
    rows = [TextRow("f", 3, ("good film",), given), TextRow("f", 4, ("bad",))]
    classifier = make()
    answering = TextRecords().answering(classifier, {})
    first, second = answering(rows, _none)
    assert first.found == classifier("good film")
    assert answering.record(first) == label_record(classifier("good film"), multi_label=False)
    assert answering.record(second) == {"text": "bad"} | label_record(classifier("bad"), multi_label=False)
    assert (second.found.label, second.row) == ("negative", rows[1])
    assert answering.tokenizer_settings.language == "en"


def test_only_rows_with_invalid_marks_are_rejected(make: Callable[..., Any]) -> None:
    answering = TextRecords().answering(make(marks=["e1"]), {})
    texts = ["<e1>good</e1>", "<e1>never ends", "<e1>bad</e1>"]
    bad: list[tuple[int, str]] = []
    rows = [TextRow("f", number, (text,)) for number, text in enumerate(texts, start=1)]
    found = answering(rows, lambda row, error: bad.append((row.number, str(error))))
    assert [answered.row.number for answered in found] == [1, 3]
    assert [number for number, _ in bad] == [2]
    assert bad[0][1].startswith("f:2: ")


def test_tables_are_read_with_the_columns_of_training(make: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("label\treview\nx\tgood film\n")
    records, classifier = TextRecords(), make(text_column="review")
    answering = records.answering(classifier, {})
    (answered,) = answering(answering.read(tmp_path / "a.tsv", "tsv", Report()), _none)
    assert answered.row.fields == {"label": '"x"', "review": '"good film"'}
    assert answered.found.text == "good film"
    assert records.columns(classifier.recipe, ()) == ("review",)
    assert records.columns(classifier.recipe, ["body"]) == ("body",)
    with pytest.raises(InputError, match="one --column"):
        records.columns(classifier.recipe, ["a", "b"])


def test_notes_are_counted_and_shown_at_the_end() -> None:
    notes = TextNotes()
    assert list(notes.add(["cut", "odd"])) == []
    assert list(notes.add(["cut"])) == []
    assert list(notes.summary()) == ["cut: 2 texts", "odd: 1 text"]


def test_a_label_record_lists_the_labels_of_multi_label_models() -> None:
    found = Classification("a", "good", 0.75, {"good": 0.75, "bad": 0.25}, ("good",), notes=("cut",))
    assert label_record(found, multi_label=False) == {
        "label": "good",
        "score": 0.75,
        "scores": {"good": 0.75, "bad": 0.25},
        "notes": ["cut"],
    }
    assert label_record(found, multi_label=True)["labels"] == ["good"]


def _none(row: TextRow, error: InputError) -> None:
    raise error
