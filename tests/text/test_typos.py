"""Typos change one place of a word, at the given rate, and repeat with the seed."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.text.jamo import decompose
from gonie.text.typos import (
    CORRECTED,
    CORRECTED_SYLLABLES,
    FEWEST,
    KEYBOARD,
    NEIGHBOURS,
    add_typos,
    corrections,
)


def draw(word: str, rate: float = 1.0, seed: int = 0, language: str = "en") -> str:
    return add_typos(word, rate, np.random.default_rng(seed), language)


def distance(one: str, other: str) -> int:
    """Return the number of edits between two words, a swap being one (Damerau and Levenshtein)."""
    rows = [[i + j if not i or not j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@given(st.text(min_size=1, max_size=12), st.integers(0, 99))
def test_a_typo_is_one_edit_and_leaves_something(word: str, seed: int) -> None:
    found = draw(word, seed=seed)
    assert distance(word, found) <= 1
    assert found
    assert draw(word, rate=0.0, seed=seed) == word
    assert draw(word, seed=seed) == found
    if sum(map(str.isalpha, word)) < FEWEST:
        assert found == word


def test_every_kind_of_typo_occurs() -> None:
    found = {draw("word", seed=seed) for seed in range(400)}
    assert {"owrd", "wrod", "wodr"} <= found, "swapped"
    assert {"ord", "wrd", "wod", "wor"} <= found, "missing"
    assert {"wword", "woord", "worrd", "wordd"} <= found, "doubled"
    assert {"qord", "wird"} <= found, "a neighbouring key"
    assert "word" not in found


def test_case_is_kept() -> None:
    assert all(draw("NATO", seed=seed).isupper() for seed in range(100))


def test_the_rate_is_the_share_of_words() -> None:
    generator = np.random.default_rng(1)
    changed = sum(add_typos("London", 0.2, generator) != "London" for _ in range(5000))
    assert changed / 5000 == pytest.approx(0.2, abs=0.02)


@given(st.text(alphabet="가나다라마서울대한민국값", min_size=1, max_size=6), st.integers(0, 99))
def test_korean_typos_change_one_letter_of_one_syllable(word: str, seed: int) -> None:
    found = draw(word, seed=seed, language="ko")
    assert len(found) == len(word)
    different = [pair for pair in zip(word, found, strict=True) if pair[0] != pair[1]]
    assert len(different) == 1
    letters, others = (decompose(each) for each in different[0])
    assert sum(a != b for a, b in zip(letters, others, strict=False)) + abs(len(letters) - len(others)) == 1


def test_neighbours_are_beside_each_other() -> None:
    places = {key: (row, at + row / 2) for row, keys in enumerate(KEYBOARD) for at, key in enumerate(keys)}
    for key, beside in NEIGHBOURS.items():
        near = {
            other
            for other, (row, at) in places.items()
            if other != key and abs(row - places[key][0]) <= 1 and abs(at - places[key][1]) <= 1
        }
        assert set(beside) == {each for each in near if abs(places[each][1] - places[key][1]) <= 1}


@given(
    st.text(alphabet=ascii_lowercase, min_size=CORRECTED, max_size=12)
    | st.text(alphabet="가나다라마서울대한민국값", min_size=CORRECTED_SYLLABLES, max_size=6),
    st.booleans(),
    st.integers(0, 99),
)
def test_corrections_undo_every_typo(word: str, capitals: bool, seed: int) -> None:
    word = word.upper() if capitals else word
    mistyped = draw(word, seed=seed, language="ko")
    if len(mistyped) >= (CORRECTED if word.isascii() else CORRECTED_SYLLABLES):
        assert word in set(corrections(mistyped)) | {mistyped}


@given(st.text(alphabet=ascii_lowercase, min_size=CORRECTED, max_size=8))
def test_corrections_are_one_edit_away(word: str) -> None:
    assert all(distance(word, other) <= 1 for other in corrections(word))


@pytest.mark.parametrize("word", ["", "the", "서울", "U.S.", "1990s", "<e1>", "don't", "🙂🙂🙂🙂", "x" * 41])
def test_short_and_very_long_words_and_words_with_signs_have_no_corrections(word: str) -> None:
    assert not [*corrections(word)]
