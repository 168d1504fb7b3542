"""Tests samples in which all types have about as many mentions."""

from __future__ import annotations

import numpy as np

from gonie.features.balanced_sample import balanced_sample
from gonie.features.shots import count_sample

MENTIONS = [{"PER": 1}] * 90 + [{"LOC": 1}] * 8 + [{"LOC": 1, "ORG": 1}] * 2 + [{}] * 50


def sampled(number: int, seed: int = 1) -> list[int]:
    return balanced_sample(MENTIONS, number, np.random.default_rng(seed))


def test_rare_types_have_as_many_mentions_as_frequent_ones() -> None:
    found = count_sample(MENTIONS, sampled(6))
    assert found["PER"] in (2, 3)
    assert found["ORG"] == 2
    assert found["LOC"] in (2, 3)


def test_examples_without_mentions_are_never_drawn() -> None:
    assert max(sampled(1000)) < 100
    assert sampled(1000) == list(range(100))


def test_the_seed_decides() -> None:
    assert sampled(20) == sampled(20)
    assert sampled(20) != sampled(20, seed=2)
    assert len(sampled(20)) == len(set(sampled(20))) == 20
    assert sampled(0) == []
