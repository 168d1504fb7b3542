"""Tests nested samples: they contain each other, and have the share of each stratum of all examples."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.features.nested_sample import nested_order, nested_sample

STRATA = st.lists(st.sampled_from("aaaabbc"), min_size=1, max_size=60)
SEEDS = st.integers(0, 2**31)


@given(STRATA, SEEDS)
def test_a_larger_sample_contains_every_smaller_one(strata: list[str], seed: int) -> None:
    samples = [nested_sample(strata, size, seed) for size in range(len(strata) + 1)]
    assert [len(set(sample)) for sample in samples] == list(range(len(strata) + 1))
    assert all(set(small) < set(large) for small, large in pairwise(samples))
    assert all(sample == sorted(sample) for sample in samples)
    assert samples[-1] == list(range(len(strata)))


@given(STRATA, SEEDS, st.data())
def test_a_sample_has_the_share_of_each_stratum(strata: list[str], seed: int, data: st.DataObject) -> None:
    """For a common share t of the strata, each has ⌊t n⌋ or ⌈t n⌉ examples, however the sample is drawn."""
    size = data.draw(st.integers(1, len(strata)))
    totals, found = Counter(strata), Counter(strata[row] for row in nested_sample(strata, size, seed))
    lowest = max((found[name] - 1) / total for name, total in totals.items())
    highest = min((found[name] + 1) / total for name, total in totals.items())
    assert lowest < highest


@given(STRATA, SEEDS)
def test_names_of_strata_do_not_matter(strata: list[str], seed: int) -> None:
    """So tasks that call the same groups differently draw the same examples."""
    renamed = [{"a": "z", "b": "y", "c": "x"}[name] for name in strata]
    assert nested_order(strata, seed).tolist() == nested_order(renamed, seed).tolist()


def test_every_example_is_drawn_equally_often() -> None:
    strata = ["a"] * 6 + ["b"] * 3 + ["c"]
    drawn = Counter(row for seed in range(3000) for row in nested_sample(strata, 3, seed))
    assert all(abs(drawn[row] / 3000 - 0.3) < 0.04 for row in range(10))


def test_small_samples_vary_less_than_those_of_a_plain_random_order() -> None:
    strata = ["a"] * 50 + ["b"] * 50
    ours = [sum(row < 50 for row in nested_sample(strata, 20, seed)) for seed in range(200)]
    plain = [
        sum(row < 50 for row in np.random.default_rng(seed).permutation(100)[:20].tolist())
        for seed in range(200)
    ]
    assert statistics.stdev(ours) < statistics.stdev(plain) / 2
