"""Reliability: if these break, calibration errors are wrong, or a good model is blamed for chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.reliability import Bin, Reliability, equal_mass, equal_width, perfect_error, reliability


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50),
    st.integers(1, 12),
)
def test_equal_width_bins_equal_a_loop(pairs: list[tuple[float, bool]], bins: int) -> None:
    expected, seen = 0.0, 0
    for at in range(bins):
        low, high = at / bins, (at + 1) / bins
        inside = [pair for pair in pairs if (low < pair[0] or at == 0) and pair[0] <= high]
        seen += len(inside)
        if inside:
            gap = abs(sum(p for p, _ in inside) / len(inside) - sum(r for _, r in inside) / len(inside))
            expected += len(inside) / len(pairs) * gap
    assert seen == len(pairs)
    confidences, right = map(np.array, zip(*pairs, strict=True))
    found = reliability(confidences, right, equal_width(bins))
    assert found.error == pytest.approx(expected, abs=1e-12)
    assert sum(each.count for each in found.bins) == len(pairs)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.6, 0.9, 1.0]), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 8),
    st.randoms(),
)
def test_equal_mass_bins_do_not_depend_on_the_order(
    pairs: list[tuple[float, bool]], bins: int, chance: Any
) -> None:
    mixed = list(pairs)
    chance.shuffle(mixed)
    found = []
    for order in (pairs, mixed):
        confidences, right = map(np.array, zip(*order, strict=True))
        found.append(reliability(confidences, right, equal_mass(confidences, bins)))
    assert found[0].error == pytest.approx(found[1].error)
    assert sum(each.count for each in found[0].bins) == len(pairs)
    assert len(found[0].bins) <= bins


def test_equal_mass_bins_have_equal_sizes_without_ties() -> None:
    confidences = np.random.default_rng(0).random(1003)
    found = reliability(confidences, confidences > 0.5, equal_mass(confidences, 10))
    assert {each.count for each in found.bins} <= {100, 101}


# --- a perfectly calibrated model ------------------------------------------------------------------------


def test_the_error_of_a_perfect_model_is_that_of_a_loop_of_coins() -> None:
    generator = np.random.default_rng(1)
    confidences = generator.beta(4, 1, size=200)
    ends = equal_mass(confidences, 15)
    errors = [reliability(confidences, generator.random(200) < confidences, ends).error for _ in range(400)]
    assert perfect_error(confidences, ends) == pytest.approx(np.mean(errors), rel=0.03)


def test_the_error_of_a_perfect_model_in_one_bin_is_the_mean_deviation_of_a_binomial() -> None:
    """Enumerated: of two coins with 0.5, the share of heads is 0, 0.5, 0.5 or 1."""
    assert perfect_error(np.array([0.5, 0.5]), np.array([1.0]), draws=40_000) == pytest.approx(0.25, abs=0.01)
    assert perfect_error(np.array([1.0, 0.0, 1.0]), np.array([1.0])) == 0


def test_the_error_of_a_perfect_model_does_not_depend_on_the_order() -> None:
    confidences = np.random.default_rng(2).random(500)
    one, other = (perfect_error(given, equal_width(15)) for given in (confidences, np.sort(confidences)))
    assert one == pytest.approx(other, rel=0.05)


def test_the_error_of_a_perfect_model_falls_with_the_number_of_decisions() -> None:
    generator = np.random.default_rng(3)
    few, many = (perfect_error(generator.random(size), equal_width(15)) for size in (100, 10_000))
    assert many < few / 5


def test_very_many_decisions_take_few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with many labels per text would take minutes."""
    monkeypatch.setattr("gonie.metrics.reliability.CELLS", 1000)
    confidences = np.random.default_rng(4).random(5000)
    assert perfect_error(confidences, equal_width(15)) == pytest.approx(
        perfect_error(confidences, equal_width(15), seed=1), rel=0.2
    )


def test_no_decisions_have_no_error() -> None:
    assert perfect_error(np.zeros(0), equal_width(15)) == 0


def test_a_reliability_of_known_bins_needs_no_perfect_model() -> None:
    assert Reliability((Bin(0.0, 1.0, 4, 0.75, 0.5),)).error == pytest.approx(0.25)
