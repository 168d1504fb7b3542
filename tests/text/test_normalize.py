"""Lookup keys of words: keys in the wrong order would give a word the vector of another."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.normalize import Normalization, fallbacks, zero_digits

BOTH = Normalization(lowercase=True, digits=True)


@pytest.mark.parametrize(
    ("lowercase", "digits", "expected"),
    [(False, False, "B2B-٣"), (True, False, "b2b-٣"), (False, True, "B0B-0"), (True, True, "b0b-0")],
)
def test_each_setting_normalises_what_it_names(lowercase: bool, digits: bool, expected: str) -> None:
    assert Normalization(lowercase=lowercase, digits=digits)("B2B-٣") == expected


@pytest.mark.parametrize("word", ["<e1>", "</e1>", "<e2>", "</Head2>"])
def test_marks_are_not_normalised(word: str) -> None:
    """Otherwise a relation model could not tell which of two marked words is the first."""
    assert BOTH(word) == word


@pytest.mark.parametrize("word", ["<3", "1<2>", "<>", "<a1><b2>", "< 1 >"])
def test_words_that_only_look_like_marks_are_normalised(word: str) -> None:
    assert BOTH(word) == zero_digits(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("the", ("the",)),
        ("The", ("The", "the")),
        ("1,234", ("1,234", "0,000", "0,0", "0")),
        ("Mid-1990s", ("Mid-1990s", "mid-1990s", "Mid-0000s", "mid-0000s", "mid-0s")),
        ("7", ("7", "0")),
        ("0", ("0",)),
        ("12:30", ("12:30", "00:00", "0:0", "0")),
        ("$5.50", ("$5.50", "$0.00", "$0.0", "0")),
        ("50%", ("50%", "00%", "0%", "0")),
        ("한글", ("한글",)),
        ("", ("",)),
    ],
)
def test_fallback_keys_go_from_fine_to_coarse(word: str, expected: tuple[str, ...]) -> None:
    assert fallbacks(word) == expected


def test_only_numbers_fall_back_to_0() -> None:
    assert "0" not in fallbacks("v8")
    assert "0" not in fallbacks("1-a")
    assert "0" not in fallbacks("...")


@settings(deadline=None, max_examples=300)
@given(st.text(), st.booleans(), st.booleans())
def test_keys_are_distinct_and_begin_with_the_normalised_form(
    word: str, lowercase: bool, digits: bool
) -> None:
    normalization = Normalization(lowercase=lowercase, digits=digits)
    keys = normalization.fallbacks(word)
    assert keys[0] == normalization(word)
    assert len(set(keys)) == len(keys)
    assert {word, word.lower(), zero_digits(word), zero_digits(word.lower())} <= set(keys)


@settings(deadline=None, max_examples=200)
@given(st.text(), st.booleans(), st.booleans())
def test_a_saved_normalisation_gives_the_same_keys(word: str, lowercase: bool, digits: bool) -> None:
    normalization = Normalization(lowercase=lowercase, digits=digits)
    again = Normalization.from_json(json.loads(json.dumps(normalization.to_json())))
    assert again == normalization
    assert again(word) == normalization(word)
