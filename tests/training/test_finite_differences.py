"""Tests central differences, on which the gradient check relies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.training.finite_differences import central_differences, relative_error

NUMBERS = st.floats(-3, 3)


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_the_slope_of_a_parabola_is_exact_up_to_rounding(values: list[float]) -> None:
    """The formula is exact if the third derivative is 0; one-sided differences would be off by ε."""
    x = np.array(values)
    found = central_differences(lambda: float(np.sum(x**2)), x, epsilon=1e-3)
    np.testing.assert_allclose(found, 2 * x, atol=1e-10)


def test_the_error_decreases_with_the_square_of_the_step() -> None:
    x = np.array([0.7])
    errors = [
        abs(central_differences(lambda: float(np.exp(x[0])), x, epsilon=epsilon)[0] - np.exp(0.7))
        for epsilon in (1e-1, 1e-2, 1e-3)
    ]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.01)
    assert errors[1] / errors[2] == pytest.approx(100, rel=0.01)


def test_only_the_requested_entries_are_changed_and_then_restored() -> None:
    x = np.arange(6.0).reshape(2, 3)
    before, seen = x.copy(), []

    def function() -> float:
        seen.append(np.flatnonzero(x != before).tolist())
        return float((x**3).sum())

    found = central_differences(function, x, epsilon=1e-4, entries=[5, 1])
    np.testing.assert_allclose(found, [75, 3], rtol=1e-6)
    assert seen == [[5], [5], [1], [1]]
    assert (x == before).all()


def test_a_non_contiguous_array_is_changed_in_place() -> None:
    x = np.arange(6.0).reshape(2, 3).T
    np.testing.assert_allclose(
        central_differences(lambda: float((x**2).sum()), x, epsilon=1e-4), 2 * x.ravel()
    )


def test_a_failing_function_leaves_the_array_unchanged() -> None:
    x = np.array([1.0])

    def function() -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        central_differences(function, x, epsilon=0.5)
    assert x[0] == 1.0


def test_the_relative_error_does_not_depend_on_scale() -> None:
    a = np.array([3.0, 4.0])
    assert relative_error(a, a) == 0.0
    assert relative_error(a, -a) == relative_error(1e9 * a, -1e9 * a) == 1.0
    assert relative_error(np.zeros(2), np.zeros(2)) == 0.0


def test_the_error_of_tiny_gradients_is_relative_to_a_minimum() -> None:
    """In float32, rounding errors of a gradient near 0 would otherwise look like a wrong gradient."""
    tiny = np.array([1e-9])
    assert relative_error(tiny, -tiny) == 1.0
    assert relative_error(tiny, -tiny, least=1e-3) == pytest.approx(2e-6)
    assert relative_error(np.ones(1), -np.ones(1), least=1e-3) == 1.0
    assert np.isnan(relative_error(np.array([np.nan]), tiny, least=1e-3))
    assert np.isnan(relative_error(np.array([np.nan]), tiny))
