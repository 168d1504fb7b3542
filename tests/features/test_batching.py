"""Batches contain every sentence once, stay within the budget and depend only on the seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.features.batching import mixed_batches, shuffled_batches, sorted_batches

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=80).map(lambda x: np.array(x, dtype=np.int64))


def budget_holds(sizes: np.ndarray, batch: np.ndarray, tokens: int, sentences: int) -> bool:
    return len(batch) == 1 or (len(batch) <= sentences and sizes[batch].max() * len(batch) <= tokens)


@given(lengths, st.integers(1, 200), st.integers(1, 10), st.integers(0, 5))
def test_batches_contain_every_sentence_once_within_the_budget(
    sizes: np.ndarray, tokens: int, sentences: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    made = [
        make(sizes, tokens=tokens, sentences=sentences, generator=generator)
        for make in (shuffled_batches, mixed_batches)
    ]
    for batches in (*made, sorted_batches(sizes, tokens=tokens, sentences=sentences)):
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
        assert all(budget_holds(sizes, batch, tokens, sentences) for batch in batches)


@given(lengths, st.integers(0, 100))
def test_padding_stays_within_its_limit(sizes: np.ndarray, padding: int) -> None:
    """A service answers a few texts of any length together, where padding would take most of the time."""
    batches = sorted_batches(sizes, tokens=10_000, sentences=100, padding=padding)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
    padded = [sizes[batch].max() * len(batch) - sizes[batch].sum() for batch in batches]
    assert max(padded) <= padding
    assert len(batches) == 1 or max(sizes) * len(sizes) - sum(sizes) > padding


@pytest.mark.parametrize("make", [shuffled_batches, mixed_batches])
def test_batches_depend_on_the_seed_and_the_epoch(make: Callable[..., Any]) -> None:
    sizes = np.random.default_rng(0).integers(1, 40, 200)

    def epoch(number: int) -> list[list[int]]:
        generator = np.random.default_rng([7, number])
        return [b.tolist() for b in make(sizes, tokens=400, sentences=32, generator=generator)]

    assert epoch(1) == epoch(1)
    assert epoch(1) != epoch(2)


def test_batches_contain_little_padding() -> None:
    sizes = np.random.default_rng(0).geometric(1 / 16, 5000)
    batches = shuffled_batches(sizes, tokens=1000, sentences=32, generator=np.random.default_rng(1))
    cells = sum(sizes[b].max() * len(b) for b in batches)
    assert sizes.sum() / cells > 0.8


def test_mixed_batches_have_similar_mean_lengths() -> None:
    """Otherwise an epoch could end with only short sentences, and the model would forget the others."""
    sizes = np.random.default_rng(0).geometric(1 / 16, 5000)
    batches = mixed_batches(sizes, tokens=20_000, sentences=1000, generator=np.random.default_rng(1))
    means = [sizes[batch].mean() for batch in batches[:-1]]
    assert max(means) - min(means) < 0.3 * sizes.mean()


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 9)), min_size=1, max_size=60),
    st.integers(1, 900),
    st.integers(1, 10),
)
def test_texts_of_many_sentences_stay_within_the_budget(
    sizes: list[tuple[int, int]], tokens: int, texts: int
) -> None:
    """A long sentence pads every sentence of every text in the batch, not one row per text."""
    longest, heights = np.array(sizes, dtype=np.int64).T
    generator = np.random.default_rng(0)
    made = [
        make(longest, tokens=tokens, sentences=texts, generator=generator, heights=heights)
        for make in (shuffled_batches, mixed_batches)
    ]
    for batches in (*made, sorted_batches(longest, tokens=tokens, sentences=texts, heights=heights)):
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
        for batch in batches:
            cells = longest[batch].max() * heights[batch].sum()
            assert len(batch) == 1 or (len(batch) <= texts and cells <= tokens)


def test_no_sentences_give_no_batches() -> None:
    assert sorted_batches(np.zeros(0, dtype=np.int64), tokens=10, sentences=10) == []
