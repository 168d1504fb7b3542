"""Lists of tagging errors: every error is listed once, the most confident first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.metrics.errors import AROUND, MOST, Error, Kind, list_errors, wrong_pairs
from gonie.metrics.evaluation import evaluate
from gonie.metrics.mistakes import find_mistake
from gonie.metrics.spans import overlap
from gonie.text.schemes import Scheme, TokenSpan, from_spans
from gonie.text.types import Sentence

SENTENCE = Sentence(words=tuple("abcdefgh"), path="dev.conll", line=7)


def errors(
    gold: list[TokenSpan], predicted: list[TokenSpan], *, sentence: Sentence = SENTENCE, **known: object
) -> list[Error]:
    mistake = find_mistake(sentence, gold, predicted, **known)  # type: ignore[arg-type]
    return [] if mistake is None else list_errors([mistake])


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        ([], [(1, 3, "X")], Kind.FALSE_POSITIVE),
        ([(1, 3, "X")], [], Kind.FALSE_NEGATIVE),
        ([(1, 3, "X")], [(1, 3, "Y")], Kind.WRONG_LABEL),
        ([(1, 3, "X")], [(2, 4, "X")], Kind.WRONG_BOUNDARY),
        ([(1, 3, "X")], [(2, 4, "Y")], Kind.WRONG_BOUNDARY),
    ],
)
def test_each_kind_of_error_is_recognised(
    gold: list[TokenSpan], predicted: list[TokenSpan], kind: Kind
) -> None:
    (error,) = errors(gold, predicted)
    assert error.kind is kind
    assert error.gold == (gold[0][2] if gold else None)
    assert error.predicted == (predicted[0][2] if predicted else None)
    assert (error.file, error.line) == ("dev.conll", 7)


def test_spans_that_only_touch_are_two_errors() -> None:
    found = errors([(0, 2, "X")], [(2, 4, "X")])
    assert [error.kind for error in found] == [Kind.FALSE_NEGATIVE, Kind.FALSE_POSITIVE]


def test_a_split_entity_is_an_error_for_each_part() -> None:
    found = errors([(0, 5, "X")], [(0, 2, "X"), (3, 5, "Y")])
    assert [(error.gold_text, error.predicted_text) for error in found] == [
        ("a b c d e", "a b"),
        ("a b c d e", "d e"),
    ]


def test_an_error_shows_both_spans_and_their_context() -> None:
    (error,) = errors([(2, 4, "X")], [(3, 6, "X")])
    assert (error.before, error.text, error.after) == ("a b ", "c d e f", " g h")
    assert (error.gold_text, error.predicted_text) == ("c d", "d e f")


def test_errors_are_sorted_by_confidence_and_then_by_position() -> None:
    """A missed span has the confidence of the tags predicted there, a spurious one that of the span."""
    sure = [0.9, 0.9, 0.5, 0.7, 1.0, 1.0, 1.0, 1.0]
    found = errors(
        [(0, 2, "X"), (2, 4, "X")],
        [(4, 6, "Y"), (6, 7, "Y")],
        confidences=sure,
        chances={(4, 6, "Y"): 0.6},
    )
    assert [error.text for error in found] == ["g", "a b", "c d", "e f"]
    assert [error.confidence for error in found] == pytest.approx([1.0, 0.9, 0.6, 0.6])


def test_context_is_counted_in_space_separated_words() -> None:
    """Eight Korean syllables would be only about three words. Text without spaces is limited by length."""
    text = "가나 다라마 " * 20
    places = [at for at, letter in enumerate(text) if letter != " "]
    words = tuple(text[at] for at in places)
    spaced = Sentence(words=words, text=text, starts=tuple(places), ends=tuple(at + 1 for at in places))
    (error,) = errors([(53, 54, "X")], [], sentence=spaced)
    assert error.before + error.text + error.after in text
    assert len(error.before.split()) == AROUND + 1  # eight words, and part of the word with the error
    assert len(error.after.split()) == AROUND + 1
    solid = Sentence(
        words=("가",) * 500, text="가" * 500, starts=tuple(range(500)), ends=tuple(range(1, 501))
    )
    (error,) = errors([(250, 251, "X")], [], sentence=solid)
    assert len(error.before) == len(error.after) == MOST


@st.composite
def some_spans(draw: st.DrawFn) -> list[TokenSpan]:
    spans, at = [], 0
    while at < len(SENTENCE):
        at += draw(st.integers(0, 3))
        end = at + draw(st.integers(1, 3))
        if end <= len(SENTENCE):
            spans.append((at, end, draw(st.sampled_from("XY"))))
        at = end
    return spans


@given(some_spans(), some_spans())
def test_exactly_the_wrong_spans_are_listed(gold: list[TokenSpan], predicted: list[TokenSpan]):
    mistake = find_mistake(SENTENCE, gold, predicted)
    pairs = [] if mistake is None else wrong_pairs(mistake)
    right = set(gold) & set(predicted)
    assert {one for one, _ in pairs if one} == set(gold) - right
    assert {other for _, other in pairs if other} == set(predicted) - right
    assert len(set(pairs)) == len(pairs)
    for one, other in pairs:
        if one is None:
            assert not any(overlap(other, span) for span in gold)
        elif other is None:
            assert not any(overlap(one, span) for span in predicted)
        else:
            assert overlap(one, other)


@pytest.mark.parametrize("kind", ["IOB1", "IOB2", "BIOES", "BILOU"])
def test_errors_are_the_same_in_every_scheme(kind: str) -> None:
    scheme = Scheme(kind=kind)  # type: ignore[arg-type]
    gold = Sentence(words=("Anna", "Kim", "in", "Seoul"), tags=tuple(tags([(0, 2, "PER")], scheme)))
    result = evaluate([gold], [tags([(0, 1, "PER"), (3, 4, "LOC")], scheme)], scheme=scheme, bootstrap=0)
    assert [(error.kind, error.text) for error in result.errors()] == [
        (Kind.WRONG_BOUNDARY, "Anna Kim"),
        (Kind.FALSE_POSITIVE, "Seoul"),
    ]


def tags(spans: list[TokenSpan], scheme: Scheme) -> list[str]:
    return from_spans(spans, 4, scheme)


def test_every_wrong_plain_tag_is_an_error() -> None:
    gold = Sentence(words=("it", "rains"), tags=("PRON", "VERB"))
    sure = [(0.8, 0.7)]
    result = evaluate([gold], [("PRON", "NOUN")], scheme=Scheme(kind="plain"), confidences=sure, bootstrap=0)
    (error,) = result.errors()
    assert (error.kind, error.gold, error.predicted) == (Kind.WRONG_LABEL, "VERB", "NOUN")
    assert (error.confidence, error.text, error.before) == (0.7, "rains", "it ")
