"""Tests that mentions are found in their text, in order, on tokens, without overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.in_context.answer_formats import Mention
from gonie.in_context.examples import SentenceText
from gonie.in_context.mentions import NO_FREE_PLACE, NOT_IN_TEXT, UNKNOWN_LABEL, place_mentions
from gonie.text.types import Sentence


def sentence(words: str) -> SentenceText:
    return SentenceText.of(Sentence(words=tuple(words.split())))


@pytest.mark.parametrize(
    ("words", "mentions", "spans"),
    [
        ("Kim met Kim", ["Kim", "Kim"], [(0, 1), (2, 3)]),
        ("Kim met Kim", ["Kim"], [(0, 1)]),
        ("a BUS in US", ["US"], [(3, 4)]),  # a whole token comes before a part of one
        ("New York and York", ["New York", "York"], [(0, 2), (3, 4)]),
        ("New York and York", ["York", "New York"], [(1, 2)]),  # the first mention of the answer stays
        ("in  Oslo", [" Oslo "], [(1, 2)]),
        ("b a", ["a", "b"], [(0, 1), (1, 2)]),  # in the order of the text
    ],
)
def test_mentions_take_their_places(words: str, mentions: list[str], spans: list[tuple[int, int]]) -> None:
    placed = place_mentions([Mention(text, "X") for text in mentions], sentence(words), {"X"})
    assert [span[:2] for span in placed.spans] == spans
    assert placed.widened == 0


def test_what_cannot_be_used_is_counted_by_reason() -> None:
    given = [
        Mention("Kim", "X"),
        Mention("Kim", "X"),
        Mention("Lee", "X"),
        Mention("Kim", "Y"),
        Mention("kim", "X"),
    ]
    placed = place_mentions(given, sentence("Kim left"), {"X"})
    assert placed.dropped == {NO_FREE_PLACE: 1, NOT_IN_TEXT: 2, UNKNOWN_LABEL: 1}
    assert placed.spans == [(0, 1, "X")]


def test_parts_of_tokens_are_widened() -> None:
    placed = place_mentions([Mention("삼성전자", "OG")], sentence("삼성전자는 수원에 있다"), {"OG"})
    assert (placed.spans, placed.widened) == ([(0, 1, "OG")], 1)


def test_a_known_place_is_taken() -> None:
    placed = place_mentions([Mention("Kim", "X", 8)], sentence("Kim met Kim"), {"X"})
    assert placed.spans == [(2, 3, "X")]
    placed = place_mentions([Mention("Kim", "X", 4)], sentence("Kim met Kim"), {"X"})
    assert (placed.spans, placed.dropped) == ([], {NOT_IN_TEXT: 1})


def test_the_text_of_a_sentence_is_its_part_of_a_text() -> None:
    whole = "One. Two three."
    own = Sentence(words=("Two", "three", "."), text=whole, starts=(5, 9, 14), ends=(8, 14, 15))
    assert SentenceText.of(own) == SentenceText("Two three.", ((0, 3), (4, 9), (9, 10)))
    assert SentenceText.of(Sentence(words=())) == SentenceText("", ())


WORDS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "가", "가나"]), min_size=1, max_size=8)


@given(
    WORDS,
    st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "a b", "나", "가 나", "x"]), st.sampled_from("XYZ"))),
)
def test_placed_mentions_are_a_matching(words: list[str], answer: list[tuple[str, str]]) -> None:
    """Each mention is placed once or dropped. Spans are disjoint, and have the mention in their tokens."""
    own = sentence(" ".join(words))
    placed = place_mentions([Mention(*each) for each in answer], own, {"X", "Y"})
    assert len(placed.spans) + placed.dropped.total() == len(answer)
    assert all(a[1] <= b[0] for a, b in zip(placed.spans, placed.spans[1:], strict=False))
    texts = [" ".join(words[start:end]) for start, end, _ in placed.spans]
    known = [text for text, label in answer if label != "Z"]
    assert all(any(text in found for text in known) for found in texts)
    assert placed.dropped[NOT_IN_TEXT] == sum(text not in own.text for text in known)


@given(WORDS, st.data())
def test_gold_spans_come_back_as_they_are(words: list[str], data: st.DataObject) -> None:
    """Mentions listed in the order of the text, of which each occurrence is labelled, keep their tokens."""
    wanted = data.draw(st.sampled_from(words))
    spans = [(at, at + 1, "X") for at, word in enumerate(words) if word == wanted]
    placed = place_mentions([Mention(wanted, "X")] * len(spans), sentence(" ".join(words)), {"X"})
    assert placed.spans == spans
    assert not placed.dropped
