"""Vectorised counting and lookup of n-grams, compared with simple loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.features.trie import NONE, Symbols, Trie, count_grams

rows = st.lists(st.lists(st.integers(0, 3), max_size=8), max_size=6)


def grams(row: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(row[at : at + n]) for at in range(len(row) - n + 1)]


@given(rows, st.integers(1, 5), st.integers(1, 3))
def test_counts_equal_those_of_a_loop(texts: list[list[int]], longest: int, floor: int) -> None:
    symbols = Symbols.of_rows(texts)
    levels = list(count_grams(symbols, longest=longest, floor=floor))
    assert [level.length for level in levels] == list(range(1, longest + 1))
    for level in levels:
        n = level.length
        counted = Counter(gram for row in texts for gram in grams(row, n))
        found = {
            tuple(symbols.flat[at : at + n].tolist()): count
            for at, count in zip(level.places.tolist(), level.counts.tolist(), strict=True)
        }
        assert found == {gram: count for gram, count in counted.items() if count >= floor}
        assert level.total == counted.total()


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), unique=True, max_size=12),
    st.lists(st.lists(st.integers(NONE, 4), max_size=8), min_size=1, max_size=5),
)
def test_known_n_grams_are_found_in_the_texts(known: list[tuple[int, ...]], texts: list[list[int]]) -> None:
    """Their prefixes need not be known. N-grams never cross the end of a text or an unknown symbol."""
    ids = {gram: 10 + i for i, gram in enumerate(known)}
    levels = Trie(Symbols.of_rows(known), np.array(list(ids.values()), dtype=np.int64)).find(
        Symbols.of_rows(texts)
    )
    assert len(levels) == max(map(len, known), default=0)
    for n, (found, counts) in enumerate(levels, 1):
        expected = [[ids[gram] for gram in grams(row, n) if gram in ids] for row in texts]
        assert found.tolist() == [id for own in expected for id in own]
        assert counts.tolist() == [len(own) for own in expected]


def test_characters_are_code_points_including_lone_surrogates() -> None:
    symbols = Symbols.of_characters(["a가", "", "\U0001f600\ud800"])
    assert symbols.flat.tolist() == [97, 0xAC00, 0x1F600, 0xD800]
    assert symbols.offsets.tolist() == [0, 2, 2, 4]
    assert symbols.left().tolist() == [2, 1, 2, 1]
    assert symbols.owners().tolist() == [0, 0, 2, 2]
