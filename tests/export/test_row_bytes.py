"""Matrices as bytes: near to half a scale, and nothing breaks them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gonie.export.row_bytes import row_bytes


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1e4, 1e4, width=32),
    ),
    st.sampled_from([63, 127]),
)
def test_no_number_is_off_by_more_than_half_a_scale(array: np.ndarray, largest: int) -> None:
    found = row_bytes(array, largest)
    assert np.abs(found.bytes).max() <= largest
    off = np.abs(found.bytes * found.scales[:, None].astype(np.float64) - array)
    assert (off <= found.scales[:, None] * 0.5001).all()


def test_rows_of_nothing_stay_nothing() -> None:
    found = row_bytes(np.zeros((2, 3), dtype=np.float32))
    assert not (found.bytes * found.scales[:, None]).any()
