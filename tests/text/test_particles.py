"""Particles after names: both forms of each, sequences of them, and words that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.text import particles
from gonie.text.particles import may_follow


@pytest.mark.parametrize(
    "word",
    [
        "삼성전자|는",
        "서울|에서는",
        "하나|에게도",
        "부산|으로부터",
        "제주|로부터의",
        "서울|로",
        "하나|였다",
        "경찰|이라고",
        "강원도|라고는",
        "하나|씨가",
        "김|씨는",
        "박|모씨의",
        "한|미일은",
        "남|북은",
        "민준|이는",
        "LG|는",
        "LG|은",
        "3일|까지만",
        "서울|",
    ],
)
def test_particles_follow_names(word: str) -> None:
    name, rest = word.split("|")
    assert may_follow(name, rest)


@pytest.mark.parametrize(
    "word",
    [
        "삼성전자|은",
        "서울|를",
        "서울|으로",
        "부산|로",
        "한국|와",
        "하나|이",
        "이|는",
        "전|에",
        "한국|시리즈",
        "서울|대",
    ],
)
def test_other_endings_do_not(word: str) -> None:
    """The form may not agree, the name may be a common syllable, or the rest may be a noun."""
    name, rest = word.split("|")
    assert not may_follow(name, rest)


def brute_force(rest: str, last: str) -> bool:
    """Try every first particle, and the rest after it."""
    return (
        not rest
        or particles._fits(rest, particles._LAST, last)
        or any(
            particles._fits(rest[:end], particles._INNER, last) and brute_force(rest[end:], rest[end - 1])
            for end in range(1, len(rest) + 1)
        )
    )


PARTICLE = st.sampled_from(sorted({*particles._INNER, *particles._LAST, "국", "", "x"}))


@given(st.sampled_from(["하나", "서울", "한국", "LG"]), st.lists(PARTICLE, max_size=4).map("".join))
def test_sequences_equal_a_search_of_all_divisions(name: str, rest: str) -> None:
    assert may_follow(name, rest) == brute_force(rest, name[-1])


def test_a_long_word_is_divided_without_trying_all_divisions() -> None:
    assert not may_follow("서울", "에서" * 2000 + "국")
