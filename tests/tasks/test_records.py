"""Tests that the fields of an input row come back with its answer: all of them, with their exact values."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from gonie.formats.text_rows import record_row
from gonie.tasks.records import ReturnedFields, renamed_note

FIELDS = ("text", "spans", "notes")
ANSWER = {"text": "나", "spans": [{"start": 0}]}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=4), each, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["id", "spans", "input_spans", "input_input_spans", "notes", "file"]) | st.text(
    max_size=4
)


def answered(line: str, **more: Any) -> str:
    row = record_row("f", 1, line, ["text"])
    assert row is not None
    return ReturnedFields(FIELDS, ["text"]).line(row.fields, ANSWER, more or None)


@given(
    fields=st.dictionaries(NAMES.filter(lambda name: name != "text"), VALUES, max_size=5), ascii=st.booleans()
)
@example(fields={"half \ud800": "\ud800", "나": 2**80, "": {"": []}}, ascii=False)
def test_every_field_comes_back_with_its_value(fields: dict[str, Any], ascii: bool) -> None:
    given_line = json.dumps({"text": "나", **fields}, ensure_ascii=ascii)
    if not ascii and any("\ud800" <= character <= "\udfff" for character in given_line):
        given_line = json.dumps({"text": "나", **fields})  # a file cannot contain it
    line = answered(given_line)
    line.encode("utf-8")
    assert line.count("\n") == 1
    found = json.loads(line)
    assert len(found) == len(fields) + 2, "the text is written once, and no field replaces another"
    assert {name: found.pop(name) for name in ANSWER} == ANSWER
    for own, name in zip(fields, found, strict=True):
        assert name == own or (own in FIELDS and name.removeprefix("input_").endswith(own))
    assert json.dumps([*found.values()]) == json.dumps([*fields.values()])  # NaN is not equal to itself


def test_numbers_and_the_order_of_keys_are_kept() -> None:
    line = '{"id": 12345678901234567890123, "far": 1e400, "text": "나", "price": 1.10, "one": 1.0, "z": -0}'
    assert answered(line) == line[:-1] + ', "spans": [{"start": 0}]}\n'
    assert answered('{"text":"나"}', file="a", row=1) == (
        '{"file": "a", "row": 1, "text": "나", "spans": [{"start": 0}]}\n'
    )


def test_a_field_with_the_name_of_an_answer_field_gets_a_prefix() -> None:
    """`notes` too, which not every answer has: a column must not mean two things."""
    returned = ReturnedFields(FIELDS, ["text"])
    fields = {"spans": "[]", "notes": "1", "text": '"나"', "input_notes": "2"}
    for _ in range(2):
        line = returned.line(fields, ANSWER)
    assert list(json.loads(line)) == ["input_spans", "input_input_notes", "text", "input_notes", "spans"]
    (note,) = renamed_note(returned.renamed)
    assert note.endswith("with the prefix input_: notes (2 rows), spans (2 rows)")
    assert not list(renamed_note({}))


def test_a_text_column_of_another_name_is_returned_beside_the_text() -> None:
    line = ReturnedFields(FIELDS, ["body"]).line({"body": '"나"', "text": '"title"'}, ANSWER)
    assert json.loads(line) == {"body": "나", "input_text": "title"} | ANSWER
    swapped = ReturnedFields(("text", "text_pair"), ["text_pair", "text"])
    line = swapped.line({"text": '"b"', "text_pair": '"a"'}, {"text": "a", "text_pair": "b"})
    assert json.loads(line) == {"input_text": "b", "input_text_pair": "a", "text": "a", "text_pair": "b"}
