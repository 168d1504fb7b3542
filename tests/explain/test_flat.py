"""If these break, a weight is shown under another word than it was computed for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.explain.flat import by_sentence, flatten


@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=4), min_size=1, max_size=5))
def test_laid_out_and_back(rows: list[list[float]]) -> None:
    flat = np.array([weight for row in rows for weight in row])
    weights = by_sentence(flat, [len(row) for row in rows], method="erasure", label="pos", gap=0.5)
    assert weights.words == tuple(map(tuple, rows))
    np.testing.assert_allclose(weights.sentences, [sum(row) for row in rows], atol=1e-12)
    assert flatten(weights).tolist() == flat.tolist()
    assert (weights.method, weights.label, weights.gap) == ("erasure", "pos", 0.5)
