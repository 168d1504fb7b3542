"""Tests the answers of pair models and their records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.tasks.pairs.answer import PairAnswer, checked_pair
from gonie.text.labelled_text import LabelledPair

NUMBERS = st.floats(-9, 9)


@given(st.dictionaries(st.sampled_from("abc"), NUMBERS, min_size=1), st.lists(st.just("cut"), max_size=1))
def test_an_answer_with_labels_is_read_from_its_record(scores: dict[str, float], notes: list[str]) -> None:
    label = next(iter(scores))
    answer = PairAnswer("one", "two", label, scores[label], scores, tokens=9, notes=tuple(notes))
    read = PairAnswer.from_dict(answer.to_dict())
    assert read.to_dict() == answer.to_dict()
    assert (read.label, read.value, read.notes) == (label, None, answer.notes)
    assert PairAnswer.from_dict(read.to_dict()) == read


@given(NUMBERS)
def test_an_answer_with_a_value_is_read_from_its_record(value: float) -> None:
    answer = PairAnswer("one", "two", value=value)
    read = PairAnswer.from_dict(answer.to_dict())
    assert read == PairAnswer("one", "two", value=round(value, 6))
    assert read.to_dict() == answer.to_dict()


def test_another_record_is_refused() -> None:
    with pytest.raises(InputError, match="not the record of a pair"):
        PairAnswer.from_dict({"text": "one"})


def test_two_texts_are_a_pair() -> None:
    assert checked_pair(("a", "b")) == checked_pair(["a", "b"]) == LabelledPair("a", "b")
    for other in ("ab", ("a",), ("a", "b", "c"), None):
        with pytest.raises(InputError, match="not a pair of texts"):
            checked_pair(other)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected a text"):
        checked_pair(("a", 1))  # type: ignore[arg-type]
