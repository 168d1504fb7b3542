"""Compares the objectives of classifiers with loops over texts and labels."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from gonie.errors import InputError
from gonie.nn.heads.text_objectives import AnyNumber, OneOf

SCORES = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]], dtype=torch.float64)
WEIGHTS = torch.tensor([1.0, 5.0, 0.5])


def one_of(scores: list[float], label: int, weight: float, smoothing: float) -> float:
    total = sum(math.exp(score) for score in scores)
    found = 0.0
    for k, score in enumerate(scores):
        asked = (1 - smoothing) * (k == label) + smoothing / len(scores)
        found += weight * asked * math.log(math.exp(score) / total)
    return found


def any_number(scores: list[float], labels: list[int], weights: list[float], smoothing: float) -> float:
    found = 0.0
    for score, label, weight in zip(scores, labels, weights, strict=True):
        asked, p = label * (1 - smoothing) + smoothing / 2, 1 / (1 + math.exp(-score))
        found += weight * asked * math.log(p) + (1 - asked) * math.log(1 - p)
    return found


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_one_of_equals_the_naive_loop(weights: Tensor | None, smoothing: float) -> None:
    gold = [0, 1]
    likelihood = OneOf(weights=weights, smoothing=smoothing)(SCORES, torch.tensor(gold))
    counts = [1.0, 1.0, 1.0] if weights is None else weights.tolist()
    rows = zip(SCORES.tolist(), gold, strict=True)
    expected = [one_of(scores, label, counts[label], smoothing) for scores, label in rows]
    assert likelihood.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_any_number_equals_the_naive_loop(weights: Tensor | None, smoothing: float) -> None:
    gold = [[1, 1, 0], [0, 0, 0]]  # a text may have no labels
    likelihood = AnyNumber(weights=weights, smoothing=smoothing)(SCORES, torch.tensor(gold).float())
    counts = [1.0, 1.0, 1.0] if weights is None else weights.tolist()
    rows = zip(SCORES.tolist(), gold, strict=True)
    expected = [any_number(scores, labels, counts, smoothing) for scores, labels in rows]
    assert likelihood.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_unknown_labels_add_no_loss_and_no_gradient(weights: Tensor | None, smoothing: float) -> None:
    for objective, gold in (
        (OneOf(weights=weights, smoothing=smoothing), torch.tensor([-1, 1])),
        (AnyNumber(weights=weights, smoothing=smoothing), torch.tensor([[-1, -1, -1], [0, 1, 0]])),
    ):
        scores = SCORES.clone().requires_grad_()
        likelihood = objective(scores, gold)
        assert likelihood[0] == 0
        likelihood.sum().backward()
        assert scores.grad is not None
        assert scores.grad.any(1).tolist() == [False, True]


@pytest.mark.parametrize("objective", [OneOf, AnyNumber])
@pytest.mark.parametrize("smoothing", [1.0, -0.1])
def test_an_invalid_smoothing_is_refused(objective: type[OneOf], smoothing: float) -> None:
    with pytest.raises(InputError, match="below 1"):
        objective(smoothing=smoothing)
