"""Questions about spans: each is about the right tokens, and mistakes are explained."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.tasks.tagging.span_questions import (
    PlacedQuestion,
    SpanQuestion,
    parse_question,
    place_questions,
    tags_of_span,
)
from gonie.text.schemes import PLAIN, Scheme
from gonie.text.types import Sentence
from support.tagger_fixtures import Blanks

TYPES = ("LOC", "ORG")
TEXT = "Samsung met Samsung in New York . a=b sat in Rome."


def placed(*given: Any, text: str = TEXT) -> list[tuple[int, PlacedQuestion]]:
    """Return the number of the sentence of each question, and the question."""
    sentences = Blanks()(text)
    found = place_questions([parse_question(each, TYPES) for each in given], sentences)
    return [(at, question) for at, each in enumerate(found) for question in each.questions]


@pytest.mark.parametrize(
    ("given", "due"),
    [
        ("Samsung=ORG", SpanQuestion("Samsung", "ORG")),
        (" New York = LOC ", SpanQuestion("New York", "LOC")),
        ("Samsung", SpanQuestion("Samsung", None)),
        ("a=b=", SpanQuestion("a=b", None)),
        ("a=b=LOC", SpanQuestion("a=b", "LOC")),
        (("a=b", "ORG"), SpanQuestion("a=b", "ORG")),
        (["Samsung", None], SpanQuestion("Samsung", None)),
    ],
)
def test_a_question_is_a_text_and_a_type(given: Any, due: SpanQuestion) -> None:
    assert parse_question(given, TYPES) == due


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Samsung=PET", r"unknown type 'PET' of the span 'Samsung'\. Use one of LOC, ORG"),
        ("=ORG", r"no text in the span '=ORG'\. Write TEXT=TYPE"),
        ("  ", "no text in the span"),
        (("a", "b", "c"), "not a span: "),
        ((1, "ORG"), "not a span: "),
    ],
)
def test_what_is_not_a_question_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_question(given, TYPES)


def test_a_question_is_about_whole_tokens_of_its_sentence() -> None:
    assert placed("New York=LOC") == [(0, PlacedQuestion(4, 6, "LOC"))]
    assert placed("a=b=", "met=ORG") == [(0, PlacedQuestion(1, 2, "ORG")), (1, PlacedQuestion(0, 1, None))]


def test_the_first_of_several_occurrences_is_meant_and_others_have_a_number() -> None:
    ((sentence, first),) = placed("Samsung=ORG")
    assert (sentence, first.start, first.end) == (0, 0, 1)
    assert first.notes == ("'Samsung' occurs 2 times, and this is the first. The second is Samsung#2.",)
    assert placed("Samsung#2=ORG") == [(0, PlacedQuestion(2, 3, "ORG"))]
    assert placed("in#2") == [(1, PlacedQuestion(2, 3, None))]
    assert placed("C#2=ORG", text="use C#2 now") == [(0, PlacedQuestion(1, 2, "ORG"))]


def test_only_whole_tokens_count_as_occurrences_if_there_are_any() -> None:
    assert placed("am=ORG", text="Samsung am .") == [(0, PlacedQuestion(1, 2, "ORG"))]


@pytest.mark.parametrize(
    ("given", "due", "wide"), [("Sams", (0, 1), "Samsung"), ("ew Yor", (4, 6), "New York")]
)
def test_a_part_of_a_token_is_widened_and_said_so(given: str, due: tuple[int, int], wide: str) -> None:
    ((_, found),) = placed(given, text="Samsung met people in New York")
    assert (found.start, found.end) == due
    assert found.notes == (f"'{given}' is not made of whole tokens, so this is about '{wide}'.",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Tokyo=LOC", r"'Tokyo' does not occur in the text\. Copy it from the text$"),
        ("samsung=ORG", r"'samsung' does not occur in the text\. Did you mean 'Samsung'\?$"),
        ("Samsung#3=ORG", r"there is no Samsung#3: 'Samsung' occurs 2 times$"),
        ("Samsung#0=ORG", "there is no Samsung#0"),
        ("Tokyo#2", "'Tokyo' does not occur"),
        ("York . a", r"'York \. a' crosses the end of a sentence\. Ask about a part of one sentence$"),
    ],
)
def test_a_text_that_cannot_be_placed_is_refused(given: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        placed(given)


def test_every_occurrence_is_found_by_a_naive_search() -> None:
    words = ("a", "ab", "b", "a", "ba")
    sentence = Sentence(words)
    for piece in ("a", "b", "ab", "a b", "ba"):
        whole = [
            (start, end)
            for start in range(len(words))
            for end in range(start + 1, len(words) + 1)
            if " ".join(words[start:end]) == piece
        ]
        for number, due in enumerate(whole, start=1):
            question = SpanQuestion(f"{piece}#{number}", None)
            (found,) = place_questions([question], [sentence])
            assert [each[:2] for each in found.questions] == [due]


def test_spans_have_the_tags_of_their_scheme() -> None:
    assert tags_of_span(1, 3, "LOC", tokens=4, scheme=Scheme(kind="IOB2")) == ("B-LOC", "I-LOC")
    assert tags_of_span(1, 2, "LOC", tokens=4, scheme=Scheme(kind="BIOES")) == ("S-LOC",)
    assert tags_of_span(1, 2, "NOUN", tokens=4, scheme=PLAIN) == ("NOUN",)


def test_hostile_texts_are_searched_literally() -> None:
    with pytest.raises(InputError, match=re.escape("does not occur")):
        placed(".*=ORG", text="a b")
    assert placed("(", text="a ( b") == [(0, PlacedQuestion(1, 2, None))]
