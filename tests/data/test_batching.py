"""Batches hold every sentence once, keep to their budget, and depend on the seed alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.data.batching import shuffled_batches, sorted_batches

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=80).map(lambda x: np.array(x, dtype=np.int64))


def budget_holds(sizes: np.ndarray, batch: np.ndarray, tokens: int, sentences: int) -> bool:
    return len(batch) == 1 or (len(batch) <= sentences and sizes[batch].max() * len(batch) <= tokens)


@given(lengths, st.integers(1, 200), st.integers(1, 10), st.integers(0, 5))
def test_every_sentence_once_within_the_budget(
    sizes: np.ndarray, tokens: int, sentences: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    shuffled = shuffled_batches(sizes, tokens=tokens, sentences=sentences, generator=generator)
    for batches in (shuffled, sorted_batches(sizes, tokens=tokens, sentences=sentences)):
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
        assert all(budget_holds(sizes, batch, tokens, sentences) for batch in batches)


def test_the_same_seed_gives_the_same_batches_and_another_epoch_others() -> None:
    sizes = np.random.default_rng(0).integers(1, 40, 200)

    def epoch(number: int) -> list[list[int]]:
        generator = np.random.default_rng([7, number])
        return [b.tolist() for b in shuffled_batches(sizes, tokens=400, sentences=32, generator=generator)]

    assert epoch(1) == epoch(1)
    assert epoch(1) != epoch(2)


def test_little_is_padding() -> None:
    sizes = np.random.default_rng(0).geometric(1 / 16, 5000)
    batches = shuffled_batches(sizes, tokens=1000, sentences=32, generator=np.random.default_rng(1))
    cells = sum(sizes[b].max() * len(b) for b in batches)
    assert sizes.sum() / cells > 0.8


def test_nothing_gives_nothing() -> None:
    assert sorted_batches(np.zeros(0, dtype=np.int64), tokens=10, sentences=10) == []
