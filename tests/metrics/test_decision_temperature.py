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
        z = scores / np.exp(log)
        return float((np.logaddexp(0, z) - targets * z).mean())

    found = fit_decision_temperature(lambda temperature: sigmoid(scores / temperature), right)
    best = minimize_scalar(loss, bounds=(np.log(LOWEST), np.log(HIGHEST)), method="bounded")
    assert loss(np.log(found)) <= best.fun + 1e-6


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


def test_probabilities_of_0_and_1_are_survived() -> None:
    found = fit_decision_temperature(lambda t: np.array([0.0, 1.0]), np.array([True, False]))
    assert LOWEST <= found <= HIGHEST
