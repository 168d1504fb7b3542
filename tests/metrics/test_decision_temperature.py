"""Fitting a temperature to decisions: if this breaks, taggers ship with probabilities that mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gonie.metrics.decision_temperature import HIGHEST, LOWEST, fit_decision_temperature, platt_targets


def sigmoid(scores: Any) -> Any:
    return 1 / (1 + np.exp(-scores))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.4, 4.0), st.integers(5, 80))
def test_the_temperature_is_the_best_one(seed: int, true: float, number: int) -> None:
    generator = np.random.default_rng(seed)
    scores = 3 * generator.normal(size=number)
    right = generator.random(number) < sigmoid(scores / true)
    targets = platt_targets(right)

    def loss(log: float) -> float:
        return float(np.square(sigmoid(scores / np.exp(log)) - targets).mean())

    found = fit_decision_temperature(lambda temperature: sigmoid(scores / temperature), right)
    bounds = np.log(LOWEST), np.log(HIGHEST)
    best = min(
        minimize_scalar(loss, bounds=bounds, method="bounded").fun, *map(loss, np.linspace(*bounds, 500))
    )
    assert loss(np.log(found)) <= best + 1e-5


def test_the_temperature_of_overconfident_decisions_is_found() -> None:
    generator = np.random.default_rng(0)
    scores = 4 * generator.normal(size=20_000)
    right = generator.random(20_000) < sigmoid(scores / 2.5)
    found = fit_decision_temperature(lambda temperature: sigmoid(scores / temperature), right)
    assert found == pytest.approx(2.5, rel=0.05)


def test_few_right_decisions_do_not_become_certain() -> None:
    """Without smoothing, the best temperature of decisions that are all right would be 0."""
    scores = np.full(20, 1.0)
    found = fit_decision_temperature(lambda t: sigmoid(scores / t), np.ones(20, dtype=bool))
    assert sigmoid(1 / found) == pytest.approx(21 / 22, abs=1e-3)


def test_no_decisions_change_nothing() -> None:
    assert fit_decision_temperature(lambda t: np.zeros(0), np.zeros(0, dtype=bool)) == 1


def test_one_wrong_decision_near_1_hardly_changes_the_temperature() -> None:
    """A single error of the gold tags would make all spans of a model seem uncertain."""
    generator = np.random.default_rng(1)
    scores = 3 * generator.normal(size=2000)
    right = generator.random(2000) < sigmoid(scores)
    clean = fit_decision_temperature(lambda t: sigmoid(scores / t), right)
    more, wrong = np.append(scores, 60.0), np.append(right, False)
    assert fit_decision_temperature(lambda t: sigmoid(more / t), wrong) == pytest.approx(clean, rel=0.02)


def test_probabilities_of_0_and_1_are_survived() -> None:
    found = fit_decision_temperature(lambda t: np.array([0.0, 1.0]), np.array([True, False]))
    assert LOWEST <= found <= HIGHEST
