"""Tests the cache of word forms: correct vectors, bounded memory, and use from many threads."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gonie.runtime.form_cache import FormCache, keys_of


class Network:
    """Computes the vectors of keys, and counts the requests for each key."""

    def __init__(self) -> None:
        self.asked: Counter[bytes] = Counter()

    def look_up(self, memory: FormCache, keys: list[bytes]) -> NDArray[np.float32]:
        def compute(places: NDArray[np.int64]) -> NDArray[np.float32]:
            chosen = [keys[place] for place in places]
            self.asked.update(chosen)
            return vectors(chosen)

        return memory.look_up(keys, compute)


def vectors(keys: list[bytes]) -> NDArray[np.float32]:
    return np.array([[len(key), sum(key)] for key in keys], dtype=np.float32).reshape(-1, 2)


KEYS = st.lists(st.binary(max_size=2), min_size=1, max_size=12, unique=True)


@settings(deadline=None)
@given(st.lists(KEYS, max_size=20), st.integers(1, 8))
def test_the_cache_returns_computed_vectors_within_its_size_limit(
    batches: list[list[bytes]], most: int
) -> None:
    memory, network = FormCache(2, most), Network()
    for keys in batches:
        np.testing.assert_array_equal(network.look_up(memory, keys), vectors(keys))
        assert len(memory) <= 2 * most


def test_a_frequent_form_is_computed_once() -> None:
    """Frequent words stay in the cache, however many other words are looked up."""
    memory, network = FormCache(2, 4), Network()
    for number in range(40):
        network.look_up(memory, [b"the", b"%d" % number])
    assert network.asked[b"the"] == 1
    network.look_up(memory, [b"0"])
    assert network.asked[b"0"] == 2  # not requested for a long time


def test_a_batch_may_exceed_the_size_of_the_cache() -> None:
    memory = FormCache(2, 3)
    keys = [b"%d" % number for number in range(50)]
    np.testing.assert_array_equal(Network().look_up(memory, keys), vectors(keys))
    assert len(memory) <= 6


def test_many_threads_get_the_correct_vectors() -> None:
    memory = FormCache(2, 16)

    def ask(seed: int) -> bool:
        random, network = np.random.default_rng(seed), Network()
        for _ in range(200):
            keys = [b"%d" % number for number in random.permutation(60)[:10]]
            if not np.array_equal(network.look_up(memory, keys), vectors(keys)):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(16)))
    assert len(memory) <= 32


def test_keys_do_not_depend_on_padding() -> None:
    rows = np.array([[5, 6, 0], [5, 0, 0], [70_000, 1, 2]])
    narrow = np.array([[5, 6], [5, 0]])
    found = keys_of(rows, [2, 1, 3])
    assert found[:2] == keys_of(narrow, [2, 1])
    assert len(set(found)) == 3
