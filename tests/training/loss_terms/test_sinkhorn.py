"""Tests Sinkhorn's algorithm against exact assignments and finite differences."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from gonie.training.loss_terms.sinkhorn import regularised_cost, transport_plan
from gonie.training.loss_terms.transport import COSTS


def clouds(size: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randn(2, size, 3, dtype=torch.float64, generator=generator)
    return x, y


def uniform(size: int) -> Tensor:
    return torch.full((size,), 1 / size, dtype=torch.float64)


@pytest.mark.parametrize("kind", COSTS)
@given(size=st.integers(2, 6), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_the_cost_approaches_the_best_assignment_as_epsilon_goes_to_0(
    kind: str, size: int, seed: int
) -> None:
    cost = COSTS[kind](*clouds(size, seed))
    rows, columns = linear_sum_assignment(cost.numpy())
    exact = cost[rows, columns].mean().item()
    mass, gaps = uniform(size), []
    for epsilon in (0.5, 0.1, 0.02):
        plan = transport_plan(cost, mass, mass, epsilon=epsilon * cost.mean(), iterations=2000)
        gaps.append((plan * cost).sum().item() - exact)
        torch.testing.assert_close(plan.sum(0), mass)
    assert gaps == sorted(gaps, reverse=True), "more entropy costs more"
    assert gaps[-1] >= -1e-3
    assert gaps[-1] < 0.05 * cost.mean()


@given(m=st.integers(1, 5), n=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_the_plan_moves_the_given_masses(m: int, n: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    a, b = (torch.rand(size, dtype=torch.float64, generator=generator) + 0.1 for size in (m, n))
    a, b = a / a.sum(), b / b.sum()
    cost = torch.rand(m, n, dtype=torch.float64, generator=generator)
    plan = transport_plan(cost, a, b, epsilon=0.1, iterations=1000)
    torch.testing.assert_close(plan.sum(1), a, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(plan.sum(0), b)
    assert (plan >= 0).all()


@pytest.mark.parametrize("kind", COSTS)
def test_the_gradient_equals_finite_differences(kind: str) -> None:
    x, y = clouds(5, seed=3)
    mass = uniform(5)

    def value(points: Tensor) -> Tensor:
        return regularised_cost(COSTS[kind](points, y), mass, mass, epsilon=0.2, iterations=3000)

    assert torch.autograd.gradcheck(value, x.requires_grad_(), eps=1e-5, atol=1e-6)


def test_points_that_are_all_the_same_cost_nothing() -> None:
    x = torch.ones(3, 2)
    cost = COSTS["euclidean"](x, x)
    mass = torch.full((3,), 1 / 3)
    value = regularised_cost(cost, mass, mass, epsilon=0.1 * cost.mean(), iterations=5)
    assert value.item() == pytest.approx(0.0, abs=1e-6)


def test_the_value_has_the_epsilon_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the least ε too: otherwise the value is not that of the plan that the gradient is of."""
    monkeypatch.setattr("gonie.training.loss_terms.sinkhorn.LEAST", 0.2)
    cost, mass = COSTS["euclidean"](*clouds(4, seed=2)), uniform(4)
    least, below = (
        regularised_cost(cost, mass, mass, epsilon=epsilon, iterations=50) for epsilon in (0.2, 0.0)
    )
    assert torch.equal(least, below)


def test_costs_equal_naive_loops() -> None:
    x, y = clouds(4, seed=1)
    for i in range(4):
        for j in range(4):
            squared = (x[i] - y[j]).square().sum() / 3
            assert COSTS["euclidean"](x, y)[i, j].item() == pytest.approx(squared.item())
            cosine = (x[i] @ y[j]) / (x[i].norm() * y[j].norm())
            assert COSTS["cosine"](x, y)[i, j].item() == pytest.approx(1 - cosine.item())
