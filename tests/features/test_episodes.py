"""Episodes: support and queries are apart, and every query is about a type of the episode."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.features.episodes import EpisodeSampler

MENTIONS = st.lists(
    st.dictionaries(st.sampled_from("abcd"), st.integers(1, 2), max_size=3), min_size=8, max_size=30
)


@given(
    mentions=MENTIONS,
    shots=st.integers(1, 3),
    ways=st.integers(1, 5),
    queries=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_an_episode_has_support_and_other_queries_of_its_types(
    mentions: list[dict[str, int]], shots: int, ways: int, queries: int, seed: int
) -> None:
    sampler = EpisodeSampler(mentions, shots=shots)
    if not sampler.types:
        return
    episode = sampler.sample(ways=ways, queries=queries, generator=np.random.default_rng(seed))
    again = sampler.sample(ways=ways, queries=queries, generator=np.random.default_rng(seed))
    assert episode == again
    assert len(episode.types) == min(ways, len(sampler.types))
    assert episode.query
    assert not set(episode.query) & set(episode.support)
    assert len(episode.query) <= queries * len(episode.types)
    for row in (*episode.support, *episode.query):
        assert set(mentions[row]) & set(episode.types)
