"""Noise levels change what they say, at the rate they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.text.noise import edited
from gonie.text.noise_levels import CASES, LEVELS, NONE, SPACES, TYPOS, NoiseLevel, words_of

TEXT = " ".join(["Anna", "lives", "in", "Seoul"] * 500)


def changed(text: str, level: NoiseLevel, seed: int = 0) -> str:
    return edited(text, (), level.edits(text, np.random.default_rng(seed))).text


@given(st.text(max_size=40))
def test_case_is_that_of_python(text: str) -> None:
    assert changed(text, NoiseLevel("upper", 1.0)) == "".join(letter.upper() for letter in text)
    assert changed(text, NoiseLevel("lower", 1.0)) == "".join(letter.lower() for letter in text)


def test_title_case_has_a_capital_in_each_word() -> None:
    assert changed("don't GO to (paris) 3rd", NoiseLevel("title", 1.0)) == "Don't Go To (Paris) 3Rd"


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_rates_are_shares_of_words_and_of_spaces(rate: float) -> None:
    typos = changed(TEXT, NoiseLevel(TYPOS, rate)).split()
    wrong = sum(one != other for one, other in zip(TEXT.split(), typos, strict=True))
    assert wrong / 2000 == pytest.approx(rate, abs=0.03)
    spaces = changed(TEXT, NoiseLevel(SPACES, rate)).count(" ")
    assert 1 - spaces / 1999 == pytest.approx(rate, abs=0.03)


@given(st.text(alphabet="abcé 서울,.12 ", max_size=40), st.integers(0, 20))
def test_spans_move_along(text: str, seed: int) -> None:
    """Every word with noise inside words stays a word of its own, so that tags keep their tokens."""
    words = words_of(text)
    for level in (NoiseLevel(TYPOS, 1.0), *(NoiseLevel(case, 1.0) for case in CASES)):
        edits = level.edits(text, np.random.default_rng(seed))
        new, moved = edited(text, [(start, end, "") for start, end in words], edits)
        assert [new[start:end] for start, end, _ in moved] == new.split()
        assert len(moved) == len(words)


def test_levels_begin_without_noise_and_are_unique() -> None:
    assert LEVELS[0] == NoiseLevel(NONE, 0.0)
    assert len({(level.kind, level.rate) for level in LEVELS}) == len(LEVELS)
    assert changed(TEXT, LEVELS[0]) == TEXT
