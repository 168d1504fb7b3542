"""Answers of pair models to rows of a file, and the records of these answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.load import load_pair_bundle
from gonie.tasks.pairs.records import PairRecords, answer_record
from gonie.text.labelled_text import LabelledPair
from gonie.text.report import Report


@pytest.fixture
def make(pair_bundle: Callable[..., Any]) -> Callable[..., PairClassifier]:
    """Builds a model whose recipe has this ``data`` section."""

    def made(*, values: bool = False, **data: Any) -> PairClassifier:
        return load_pair_bundle(pair_bundle(values=values, recipe={"data": data}))

    return made


def refuse(row: TextRow, error: InputError) -> None:
    raise error


def test_a_record_has_the_given_columns_and_the_answer(make: Callable[..., Any]) -> None:
    given = {"id": '"x"', "q1": '"good film"', "q2": '"good"', "label": '"gold"'}
    rows = [
        TextRow("f", 3, ("good film", "good"), given),
        TextRow("f", 4, ("bad", "good")),
        TextRow("f", 5, (), example=LabelledPair("bad", "bad", ("x",))),
    ]
    model = make()
    answering = PairRecords().answering(model, {})
    found = list(answering(rows, refuse))
    assert [answered.row for answered in found] == rows
    assert [answered.found for answered in found] == list(
        model.pipe([("good film", "good"), ("bad", "good"), ("bad", "bad")])
    )
    one, two, _ = map(answering.record, found)
    assert list(one) == ["label", "score", "scores"], "the texts are fields of the input"
    assert one["label"] == "same"
    assert two == {
        "text": "bad",
        "text_pair": "good",
        "label": "other",
        "score": 0.982014,
        "scores": {"other": 0.982014, "same": 0.017986},
    }
    assert [answered.tokens for answered in found] == [3, 2, 2]
    assert answering.tokenizer_settings.language == "en"


def test_the_record_of_a_value_has_no_label_or_scores(make: Callable[..., Any]) -> None:
    model = make(values=True)
    answering = PairRecords().answering(model, {})
    (found,) = answering([TextRow("f", 1, ("film", "the"), {"a": '"film"', "b": '"the"'})], refuse)
    assert answering.record(found) == {"value": 2.5}
    assert answer_record(model("film", "the")) == {"value": 2.5}


def test_only_rows_that_are_not_pairs_are_rejected(make: Callable[..., Any]) -> None:
    rows = [TextRow("f", 1, ("a", "b")), TextRow("f", 2, ("a\ud800", "b")), TextRow("f", 3, ("a",))]
    bad: list[int] = []
    found = PairRecords().answering(make(), {})(rows, lambda row, error: bad.append(row.number))
    assert [answered.row.number for answered in found] == [1]
    assert bad == [2, 3]


def test_columns_are_those_requested_or_those_of_training(make: Callable[..., Any]) -> None:
    records = PairRecords()
    recipe = make(text_columns=["q1", "q2"]).recipe
    assert records.columns(recipe, ()) == ("q1", "q2")
    assert records.columns(recipe, ["a", "b"]) == ("a", "b")
    assert records.columns({}, ()) == ("text", "text_pair")
    for asked in (["a"], ["a", "b", "c"]):
        with pytest.raises(InputError, match=f"one for each text of a pair, got {len(asked)}"):
            records.columns(recipe, asked)


def test_tables_are_read_with_the_columns_of_training(make: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(
        "label\tq2\tq1\ttext\ttext_pair\n-\tbad\tgood film\tx\ty\nz\t \tb\tx\ty\n"
    )
    report = Report()
    answering = PairRecords().answering(make(text_columns=["q1", "q2"], label_column="label"), {})
    (row,) = answering.read(tmp_path / "a.tsv", "tsv", report)
    assert (row.number, row.texts, row.fields["label"]) == (2, ("good film", "bad"), '"-"')
    assert report.skipped == {"pairs with an empty text": 1}


@pytest.mark.parametrize("values", [False, True])
def test_the_cells_of_a_table_match_the_record(make: Callable[..., Any], values: bool) -> None:
    arrow = pytest.importorskip("pyarrow")
    records = PairRecords()
    answering = records.answering(make(values=values), {})
    rows = [TextRow("f", 1, ("good", "bad"), {"id": "7", "q1": '"good"', "q2": '"bad"'})]
    (found,) = answering(rows, refuse)
    record = answering.record(found)
    cells = records.cells(found, record)
    columns = records.arrow_columns(arrow, {})
    table = arrow.Table.from_pylist([{name: cells[name] for name in columns}], schema=arrow.schema(columns))
    (row,) = table.to_pylist()
    assert (cells["text"], row["text_pair"]) == ("good", "bad")
    if values:
        assert (row["label"], row["score"], row["scores"]) == (None, None, [])
        assert row["value"] == pytest.approx(0.0899, abs=1e-3)
    else:
        assert (row["label"], row["value"]) == ("other", None)
        assert {each["label"]: each["score"] for each in row["scores"]} == record["scores"]


def test_notes_of_cut_texts_are_in_the_record_and_are_counted(pair_bundle: Any) -> None:
    records = PairRecords()
    answering = records.answering(load_pair_bundle(pair_bundle(max_tokens=1)), {})
    (found,) = answering([TextRow("f", 1, ("good film", "bad"))], refuse)
    (note,) = answering.record(found)["notes"]
    assert "cut to 1 token" in note
    notes = records.notes()
    assert list(notes.add(found.notes)) == []
    assert list(notes.summary()) == [f"{note}: 1 pair"]


def test_the_pretty_view_shows_labels_or_values(make: Callable[..., Any]) -> None:
    rows = [TextRow("f", 1, ("good\nfilm", "good"))]
    shown = {}
    for values in (False, True):
        answering = PairRecords().answering(make(values=values), {})
        (found,) = answering(rows, refuse)
        shown[values] = [
            getattr(answering.view("pretty", alone=alone)(found), "plain", "") for alone in (False, True)
        ]
    line, every = shown[False]
    assert line.startswith("same 0.731  good")
    assert line.endswith(" | good")
    assert "\n" not in line
    assert every == "same   0.731\nother  0.269"
    assert [text.split("  ")[0] for text in shown[True]] == ["3.66", "3.66"]
