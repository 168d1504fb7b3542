"""Rows of unequal length in flat arrays, compared with plain lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.features import ragged

rows = st.lists(st.lists(st.integers(0, 99), max_size=5), min_size=1, max_size=6)


def lengths_of(lists: list[list[int]]) -> np.ndarray:
    return np.array([len(row) for row in lists], dtype=np.int64)


@given(rows)
def test_offsets_and_positions_find_every_row(lists: list[list[int]]) -> None:
    flat = np.array([value for row in lists for value in row], dtype=np.int64)
    places = ragged.offsets(lengths_of(lists))
    order = list(range(len(lists)))[::-1]
    found = flat[ragged.positions(places[order], lengths_of(lists)[order])]
    assert found.tolist() == [value for row in lists[::-1] for value in row]


@given(rows)
def test_pad_fills_to_the_right(lists: list[list[int]]) -> None:
    flat = np.array([value for row in lists for value in row], dtype=np.int64)
    table = ragged.pad(flat, lengths_of(lists), fill=-7)
    longest = max(map(len, lists))
    assert table.tolist() == [row + [-7] * (longest - len(row)) for row in lists]
