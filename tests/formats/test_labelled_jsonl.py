"""JSONL: a number is a label, a list is several, and anything else is refused with its line."""

from __future__ import annotations

import json

import pytest

from gonie.errors import InputError
from gonie.formats.labelled_jsonl import read_records
from gonie.text.labelled_text import LabelledRow, TextOptions
from gonie.text.report import Report


def rows(*lines: str, **options: object) -> list[LabelledRow]:
    return list(read_records(enumerate(lines, 1), TextOptions(**options), Report(path="f")))  # type: ignore[arg-type]


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
def test_labels(record: dict[str, object], labels: tuple[str, ...]) -> None:
    assert rows(json.dumps({"text": "t", **record})) == [LabelledRow(1, "t", labels)]


def test_other_keys_and_separators() -> None:
    line = '{"review": "t", "id": 7, "intent": "a#b", "text": 3}'
    options = {"text_column": "review", "label_column": "intent"}
    assert rows(line, "", line, label_separator="#", **options) == [
        LabelledRow(1, "t", ("a", "b")),
        LabelledRow(3, "t", ("a", "b")),
    ]


def test_labels_are_not_asked_for() -> None:
    assert rows('{"text": "t", "label": {}}', label_column=None) == [LabelledRow(1, "t", ())]


def test_an_empty_text_needs_no_label() -> None:
    assert rows('{"text": " "}') == [LabelledRow(1, " ", ())]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "f:1: expected a JSON object, got what is none"),
        ("[1]", 'f:1: expected a JSON object with "text"'),
        ('{"document": "t"}', r"got the keys \['document'\]"),
        ('{"text": "t"}', 'f:1: expected a label under "label", or a list of labels under "labels"'),
        ('{"text": "t", "label": null}', "expected a label"),
        ('{"text": "t", "label": 0.5}', "got 0.5"),
        ('{"text": "t", "label": " "}', "expected a label"),
        ('{"text": "t", "label": ["a", [1]]}', "expected a label"),
        ('{"text": "t", "label": "\\ud800"}', "expected a label"),
        ('{"text": "\\ud800", "label": "a"}', "half a surrogate pair"),
        ("[" * 100_000, "expected a JSON object"),
    ],
)
def test_bad_records_are_refused(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows(line)
