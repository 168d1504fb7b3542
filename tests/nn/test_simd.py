"""Compares the SIMD operations with numpy. A wrong lane would give a sentence wrong scores."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gonie.nn.available import has_numba

if not has_numba():
    pytest.skip("Numba is not installed", allow_module_level=True)

from gonie.nn.compiled import compiled
from gonie.nn.simd import LANES, larger, load, splat, store, total


@compiled
def _calculate(a: NDArray[np.float64], b: NDArray[np.float64], out: NDArray[np.float64]) -> float:
    """Write the result of each operation to a row of ``out``."""
    x, y = load(a), load(b)
    store(out[0], x + y)
    store(out[1], x - y)
    store(out[2], x * y)
    store(out[3], x / y)
    store(out[4], larger(x, y))
    store(out[5], splat(a[3]))
    return total(x)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_every_operation_equals_numpy(kind: type[np.floating]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=LANES + 3).astype(kind) for _ in range(2))
    out = np.full((6, LANES + 3), 7, kind)
    found = _calculate(a, b, out)
    expected = [a + b, a - b, a * b, a / b, np.maximum(a, b), np.full_like(a, a[3])]
    np.testing.assert_array_equal(out[:, LANES:], 7)  # nothing is written beyond the lanes
    np.testing.assert_allclose(out[:, :LANES], np.stack(expected)[:, :LANES], rtol=1e-6)
    assert found == pytest.approx(a[:LANES].sum(), rel=1e-5)


def test_the_larger_of_nan_and_a_number_is_the_second_operand() -> None:
    """The maximum of a token's scores is then a number, and a NaN shows in its own exponential."""
    a, b, out = np.full(LANES, np.nan), np.full(LANES, 2.0), np.zeros((6, LANES))
    _calculate(a, b, out)
    assert (out[4] == 2.0).all()
    _calculate(b, a, out)
    assert np.isnan(out[4]).all()
