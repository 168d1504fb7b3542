"""Labelled texts in JSONL: labels are strings, numbers or lists; anything else is refused with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.detect import kind_of_examples
from gonie.formats.table import TEXT_FORMATS
from gonie.text.labelled_text import LabelledRow, TextOptions
from gonie.text.report import Report
from support.contents import content


def rows(*lines: str, **options: object) -> list[LabelledRow]:
    options_ = TextOptions(**options)  # type: ignore[arg-type]
    return list(TEXT_FORMATS["jsonl"].read(content("\n".join(lines)), options_, Report(path="f")))


@pytest.mark.parametrize(
    ("record", "labels"),
    [
        ({"label": "pos"}, ("pos",)),
        ({"label": " pos "}, ("pos",)),
        ({"label": 1}, ("1",)),
        ({"label": 0}, ("0",)),
        ({"label": True}, ("true",)),
        ({"label": ["b", "a", "b"]}, ("b", "a")),
        ({"labels": ["a", 3]}, ("a", "3")),
        ({"labels": []}, ()),
        ({"labels": "a"}, ("a",)),
    ],
)
def test_labels_may_be_strings_numbers_or_lists(record: dict[str, object], labels: tuple[str, ...]) -> None:
    assert rows(json.dumps({"text": "t", **record})) == [LabelledRow(1, "t", labels)]


def test_keys_and_separator_may_be_given() -> None:
    line = '{"review": "t", "id": 7, "intent": "a#b", "text": 3}'
    options = {"text_column": "review", "label_column": "intent"}
    assert rows(line, "", line, label_separator="#", **options) == [
        LabelledRow(1, "t", ("a", "b"), 7),
        LabelledRow(3, "t", ("a", "b"), 7),
    ]


def test_labels_are_not_read_unless_requested() -> None:
    assert rows('{"text": "t", "label": {}}', label_column=None) == [LabelledRow(1, "t", ())]


@pytest.mark.parametrize("value", ["null", "NaN", '""', '" "', '"NaN"'])
def test_a_missing_label_is_none_or_refused(value: str) -> None:
    line = f'{{"text": "t", "label": {value}}}'
    assert rows(line) == [LabelledRow(1, "t", None)]
    with pytest.raises(InputError, match="f:1: empty label"):
        rows(line, unlabelled="error")


@pytest.mark.parametrize("label", ["NA", "N/A", "None", "none", "-1"])
def test_a_label_that_may_mean_none_is_read_and_counted(label: str) -> None:
    """It may be a class of its own, but the user must see that it became one."""
    report = Report(path="f")
    line = json.dumps({"text": "t", "label": label})
    read = TEXT_FORMATS["jsonl"].read(content(f"{line}\n{line}"), TextOptions(), report)
    assert [row.labels for row in read] == [(label,), (label,)]
    assert f"2 texts with the label {label}, which" in "\n".join(report.lines())


def test_an_empty_text_needs_no_label() -> None:
    assert rows('{"text": " "}', '{"text": "t", "label": 1}')[0] == LabelledRow(1, " ", ())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "f:1: invalid JSON object"),
        ("[1]", "f:1: expected a JSON object, got a list"),
        ('{"body": "t"}', "no column text; the columns are 'body'"),
        ('{"text": "t"}', "f:1: no column label; the columns are 'text'. .*--label NAME"),
        ('{"text": "t", "label": 0.5}', r"invalid label: 0\.5"),
        ('{"text": "t", "label": ["a", [1]]}', "invalid label"),
        ('{"text": "t", "label": "\\ud800"}', "invalid label"),
        ('{"text": "\\ud800", "label": "a"}', "lone surrogate"),
        ("[" * 100_000, "invalid JSON object"),
    ],
)
def test_bad_records_are_refused(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows(line)


@pytest.mark.parametrize("label", ["0.5", '{"name": "good"}'])
def test_texts_with_invalid_labels_are_not_taken_for_sentences_without_tags(
    label: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "t", "label": {label}}}\n', "utf-8")
    assert kind_of_examples(path) == "labelled texts"
