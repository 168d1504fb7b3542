"""Tests the summaries of a matrix of forgetting against their definitions."""

from __future__ import annotations

import pytest

from gonie.metrics.forgetting import ForgettingMatrix, mean_matrix

THREE = ForgettingMatrix(("a", "b", "c"), ((0.8, 0.1, 0.2), (0.7, 0.9, 0.3), (0.5, 0.95, 0.6)))


def test_forgetting_is_the_loss_since_the_best_score() -> None:
    assert THREE.forgetting == pytest.approx(((0.8 - 0.5) + (0.9 - 0.95)) / 2)


def test_backward_transfer_is_the_change_since_training() -> None:
    assert THREE.backward_transfer == pytest.approx(((0.5 - 0.8) + (0.95 - 0.9)) / 2)
    assert THREE.final == pytest.approx((0.5 + 0.95 + 0.6) / 3)


def test_a_score_before_training_may_be_the_best() -> None:
    matrix = ForgettingMatrix(("a", "b", "c"), ((0.5, 0.4, 0), (0.5, 0.2, 0), (0.5, 0.1, 0)))
    assert matrix.forgetting == pytest.approx((0.0 + 0.3) / 2)


def test_one_task_is_not_forgotten() -> None:
    alone = ForgettingMatrix(("a",), ((0.5,),))
    assert alone.forgetting is None
    assert alone.backward_transfer is None
    assert alone.to_json()["final"] == 0.5


def test_means_are_over_runs() -> None:
    other = ForgettingMatrix(THREE.tasks, ((0.6, 0.1, 0.2), (0.7, 0.9, 0.3), (0.5, 0.95, 0.6)))
    assert mean_matrix([THREE, other]).scores[0] == pytest.approx((0.7, 0.1, 0.2))
