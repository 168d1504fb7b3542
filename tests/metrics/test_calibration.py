"""Calibration: if these break, probabilities are wrong, or the report wrongly calls them calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from gonie.metrics.calibration import (
    FLOOR,
    HIGHEST,
    LOWEST,
    brier,
    decision_calibration,
    decisions,
    fit_temperature,
    measure_calibration,
    negative_log_likelihood,
)


def softmax(scores: Any) -> Any:
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def sigmoid(scores: Any) -> Any:
    return 1 / (1 + np.exp(-scores))


def some_texts(seed: int, texts: int = 60, labels: int = 4) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    scores = 2 * generator.normal(size=(texts, labels))
    gold = np.array([generator.choice(labels, p=row) for row in softmax(scores / 1.5)])
    return scores, gold


# --- bins ------------------------------------------------------------------------------------------------


def test_calibration_error_of_a_small_example() -> None:
    """Three of four are right and the mean probability is 0.75: no error with one bin, but with two."""
    probabilities = np.array([[0.8, 0.2], [0.1, 0.9], [0.7, 0.3], [0.6, 0.4]])
    found = measure_calibration(probabilities, np.array([0, 1, 1, 0]), bins=2)
    (only,) = found.width.bins
    assert (only.low, only.high, only.count) == (0.5, 1.0, 4)
    assert (only.confidence, only.accuracy) == pytest.approx((0.75, 0.75))
    assert found.width.error == pytest.approx(0.0)
    # halves by size: 0.6, 0.7 (one right) and 0.8, 0.9 (both right)
    assert [each.count for each in found.mass.bins] == [2, 2]
    assert found.mass.error == pytest.approx(0.5 * abs(0.65 - 0.5) + 0.5 * abs(0.85 - 1))


def test_overconfidence_has_a_larger_error_than_calibrated_probabilities() -> None:
    generator = np.random.default_rng(3)
    chance = generator.uniform(0.5, 1, size=20_000)
    gold = (generator.random(20_000) > chance).astype(np.int64)
    honest = np.stack([chance, 1 - chance], axis=1)
    assert measure_calibration(honest, gold).width.error < 0.02
    boast = np.stack([np.full(20_000, 0.99), np.full(20_000, 0.01)], axis=1)
    assert measure_calibration(boast, gold).width.error == pytest.approx(0.99 - np.mean(gold == 0))


def test_decisions_are_measured_like_two_labels() -> None:
    """The calibration of spans would not be comparable with that of texts."""
    generator = np.random.default_rng(5)
    confidences = generator.uniform(0.5, 1, size=400)
    right = generator.random(400) < confidences
    both = measure_calibration(np.stack([1 - confidences, confidences], axis=1), right.astype(np.int64))
    found = decision_calibration(confidences, right)
    assert found.width == both.width
    assert found.mass == both.mass
    assert found.nll == pytest.approx(log_loss(right, confidences))
    assert found.brier == pytest.approx(both.brier / 2)
    assert found.decisions == 400


def test_each_of_several_labels_is_a_decision() -> None:
    confidences, right = decisions(np.array([[0.9, 0.2]]), np.array([[1, 0]]))
    assert confidences.tolist() == [0.9, 0.2]
    assert right.tolist() == [True, False]


def test_ties_are_decided_for_the_first_label() -> None:
    _, right = decisions(np.array([[0.5, 0.5]]), np.array([0]))
    assert right.tolist() == [True]


# --- scores without bins ---------------------------------------------------------------------------------


def test_log_loss_and_brier_score_of_a_small_example() -> None:
    probabilities, gold = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), np.array([1, 1])
    assert negative_log_likelihood(probabilities, gold) == pytest.approx(np.log(4) / 2)
    assert brier(probabilities, gold) == pytest.approx((0.25 + 0.5625 + 0.0625) / 2)
    several = np.array([[0.5, 1.0]]), np.array([[0, 1]])
    assert negative_log_likelihood(*several) == pytest.approx(np.log(2) / 2)
    assert brier(*several) == pytest.approx(0.125)


def test_log_loss_equals_scikit_learn() -> None:
    scores, gold = some_texts(5)
    expected = log_loss(gold, softmax(scores), labels=range(4))
    assert negative_log_likelihood(softmax(scores), gold) == pytest.approx(expected)


def test_an_unknown_gold_label_is_wrong_and_has_no_likelihood() -> None:
    probabilities, gold = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([-1, 0])
    assert negative_log_likelihood(probabilities, gold) == pytest.approx(np.log(2))
    assert brier(probabilities, gold) == pytest.approx((2 + 0.5) / 2)
    assert decisions(probabilities, gold)[1].tolist() == [False, True]
    assert negative_log_likelihood(probabilities[:1], gold[:1]) is None


def test_a_certain_error_has_a_finite_loss() -> None:
    found = measure_calibration(np.array([[1.0, 0.0]]), np.array([1]))
    assert found.nll == pytest.approx(-np.log(FLOOR))
    assert found.width.error == found.mass.error == 1.0
    assert found.to_json()["brier"] == 2.0


# --- temperature -----------------------------------------------------------------------------------------

GRID = np.geomspace(LOWEST, HIGHEST, 2000)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.2, 5))
def test_no_temperature_of_a_fine_grid_fits_better(seed: int, stretch: float) -> None:
    scores, gold = some_texts(seed)
    scores = stretch * scores
    best = min(negative_log_likelihood(softmax(scores / t), gold) or 0.0 for t in GRID)
    found = negative_log_likelihood(softmax(scores / fit_temperature(scores, gold)), gold)
    assert found is not None
    assert found <= best + 1e-6


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.2, 5))
def test_no_temperature_of_a_fine_grid_fits_several_labels_better(seed: int, stretch: float) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(40, 3))
    gold = (generator.random((40, 3)) < sigmoid(scores)).astype(np.int64)
    scores = stretch * scores
    best = min(negative_log_likelihood(sigmoid(scores / t), gold) or 0.0 for t in GRID)
    found = negative_log_likelihood(sigmoid(scores / fit_temperature(scores, gold)), gold)
    assert found is not None
    assert found <= best + 1e-6


@pytest.mark.parametrize("stretch", [0.1, 0.5, 1.0, 3.0, 15.0])
def test_a_known_scale_factor_is_recovered(stretch: float) -> None:
    """Three of four texts have the label whose odds are three to one."""
    one_label = stretch * np.log([[3.0, 1.0]] * 4), np.array([0, 0, 0, 1])
    assert fit_temperature(*one_label) == pytest.approx(stretch, rel=1e-4)
    several = stretch * np.log([[3.0]] * 4), np.array([[1], [1], [1], [0]])
    assert fit_temperature(*several) == pytest.approx(stretch, rel=1e-4)


def test_one_sigmoid_label_equals_a_softmax_of_two() -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal(size=(50, 1))
    gold = (generator.random(50) < sigmoid(scores[:, 0] / 2)).astype(np.int64)
    two_sided = np.hstack([np.zeros_like(scores), scores])
    assert fit_temperature(two_sided, gold) == pytest.approx(fit_temperature(scores, gold[:, None]), rel=1e-6)


@pytest.mark.parametrize(
    ("scores", "gold", "expected"),
    [
        (np.zeros((3, 2)), np.array([0, 1, 0]), 1.0),  # equal scores
        (np.ones((2, 1)), np.array([0, 0]), 1.0),  # a single label
        (np.zeros((0, 2)), np.zeros(0, dtype=np.int64), 1.0),  # no texts
        (np.array([[3.0, 0.0]]), np.array([-1]), 1.0),  # unknown gold label
        (np.zeros((0, 2)), np.zeros((0, 2), dtype=np.int64), 1.0),
        (np.array([[1e-3, 0.0]]), np.array([0]), LOWEST),  # all right: the lowest temperature
        (np.array([[1.0, 0.0]]), np.array([1]), HIGHEST),  # all wrong: the highest temperature
        (np.array([[40.0, 0.0]]), np.array([0]), 1.0),  # already right to numerical precision
    ],
)
def test_degenerate_scores_give_a_temperature_within_bounds(scores: Any, gold: Any, expected: float) -> None:
    assert fit_temperature(scores, gold) == expected


def test_huge_scores_and_single_precision_are_handled() -> None:
    scores, gold = some_texts(11)
    assert fit_temperature((1e5 * scores).astype(np.float32), gold) == HIGHEST
    single = fit_temperature(scores.astype(np.float32), gold)
    assert single == pytest.approx(fit_temperature(scores, gold), rel=1e-4)
    assert fit_temperature(1e5 * scores, np.eye(4, dtype=np.int64)[gold]) == HIGHEST


def test_a_few_correct_texts_do_not_make_a_model_certain() -> None:
    """Regression test: a dev set of ten correct texts made every probability 1.000."""
    generator = np.random.default_rng(1)
    gold = np.arange(10) % 2
    scores = generator.normal(size=(10, 2)) + 8.0 * np.eye(2)[gold]
    assert softmax(scores / fit_temperature(scores, gold)).max(axis=1).min() > 0.9999
    sober = softmax(scores / fit_temperature(scores, gold, doubt=1 / 12)).max(axis=1)
    assert 0.85 < sober.mean() < 0.99
    several = np.eye(2, dtype=np.int64)[gold]
    chances = sigmoid(8.0 * (several - 0.5) / fit_temperature(8.0 * (several - 0.5), several, doubt=1 / 12))
    assert np.abs(chances - several).mean() == pytest.approx(1 / 24, abs=1e-3)
