"""Records of answers: scores are short, notes stand only where there are any, every line can be written."""

from __future__ import annotations

import json

from gonie.formats.results import json_line, tag_result, text_result
from gonie.text.types import Candidate, Classification, Document, Span, Token


def test_a_document_keeps_its_offsets_and_short_scores() -> None:
    token = Token(text="Ann", start=0, end=3, tag="S-PER", score=0.12345678)
    span = Span(start=0, end=3, label="PER", text="Ann", score=1 / 3)
    found = tag_result(Document("Ann", (token,), ((0, 1),), (span,)))
    assert found == {
        "text": "Ann",
        "spans": [{"start": 0, "end": 3, "label": "PER", "text": "Ann", "score": 0.333333}],
        "tokens": [{"start": 0, "end": 3, "text": "Ann", "tag": "S-PER", "score": 0.123457}],
    }
    assert tag_result(Document("", notes=("long",)))["notes"] == ["long"]


def test_what_else_a_sentence_may_be_is_there_where_it_was_asked_for() -> None:
    """A long sentence has no likely tagging: six decimals would make zeros of all."""
    span = Span(start=0, end=3, label="PER", text="Ann")
    unlikely = Candidate(("S-PER",), 1.23456789e-9, (span,))
    found = tag_result(Document("Ann", nbest=((Candidate(("O",), 2 / 3), unlikely),)))["nbest"]
    assert found == [
        [
            {"score": 0.666667, "tags": ["O"], "spans": []},
            {
                "score": 1.23457e-9,
                "tags": ["S-PER"],
                "spans": [{"start": 0, "end": 3, "label": "PER", "text": "Ann"}],
            },
        ]
    ]
    assert tag_result(Document("", nbest=()))["nbest"] == [], "asked for, and there is no sentence"
    assert "nbest" not in tag_result(Document("Ann"))


def test_a_label_stands_beside_what_was_given() -> None:
    found = Classification("a", "good", 0.75, {"good": 0.75, "bad": 0.25}, ("good",), notes=("cut",))
    assert text_result(found, several=False) == {
        "text": "a",
        "label": "good",
        "score": 0.75,
        "scores": {"good": 0.75, "bad": 0.25},
        "notes": ["cut"],
    }
    several = text_result(found, {"body": "a", "id": 7}, several=True)
    assert "text" not in several
    assert (several["body"], several["id"], several["labels"]) == ("a", 7, ["good"])


def test_every_record_is_one_line_of_utf8() -> None:
    assert json_line({"a": "나\n"}) == '{"a": "나\\n"}\n'
    half = json_line({"a": "half \ud800"})
    assert json.loads(half.encode("utf-8")) == {"a": "half \ud800"}
