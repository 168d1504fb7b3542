"""Few-shot samples: enough mentions of each type, none too many, and the same for the same seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.features.shots import ShotSampler, count_sample

MENTIONS = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), max_size=4), max_size=25)


@given(mentions=MENTIONS, shots=st.integers(1, 6), seed=st.integers(0, 999))
def test_every_type_has_enough_mentions_and_no_example_can_be_left_out(
    mentions: list[dict[str, int]], shots: int, seed: int
) -> None:
    sampler = ShotSampler(mentions)
    types = list(sampler.totals)
    rows = sampler.sample(types, shots, np.random.default_rng(seed))
    assert rows == sorted(set(rows))
    wanted = {name: min(shots, sum(own.get(name, 0) for own in mentions)) for name in types}
    found = count_sample(mentions, rows)
    assert all(found[name] >= least for name, least in wanted.items())
    for row in rows:
        left = count_sample(mentions, [each for each in rows if each != row])
        assert any(left[name] < least for name, least in wanted.items()), "the example is not needed"


@given(mentions=MENTIONS, shots=st.integers(1, 6), seed=st.integers(0, 999))
def test_the_same_seed_gives_the_same_sample(mentions: list[dict[str, int]], shots: int, seed: int) -> None:
    first, second = (
        ShotSampler(mentions).sample(types, shots, np.random.default_rng(seed))
        for types in (list(ShotSampler(mentions).totals), list(ShotSampler(mentions).totals)[::-1])
    )
    assert first == second, "not even the order of the types matters"


def test_other_seeds_give_other_samples() -> None:
    sampler = ShotSampler([{"a": 1}] * 30)
    drawn = {tuple(sampler.sample(["a"], 2, np.random.default_rng(seed))) for seed in range(20)}
    assert len(drawn) > 10
    assert all(len(rows) == 2 for rows in drawn)


def test_only_the_named_types_count() -> None:
    sampler = ShotSampler([{"a": 1}, {"b": 1}, {"a": 1, "b": 1}])
    assert sampler.totals == Counter(a=2, b=2)
    assert set(sampler.sample(["b"], 2, np.random.default_rng(0))) == {1, 2}
