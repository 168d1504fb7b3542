"""Entropic optimal transport between two sets of points, by Sinkhorn's algorithm in log space.

The plan P (M, N) of transport between weights a (M,) and b (N,) with costs C (M, N) minimises

    ⟨P, C⟩ + ε KL(P ‖ a bᵀ)    where P 1 = a and Pᵀ 1 = b

(Cuturi 2013, arXiv:1306.0895). It has the form P[i, j] = a[i] b[j] exp((f[i] + g[j] − C[i, j]) / ε), and
Sinkhorn's algorithm computes f and g in turns. As ε goes to 0, P becomes an optimal plan without entropy.
"""

from __future__ import annotations

import torch
from torch import Tensor

LEAST = 1e-12
"""The least ε, for points that are all the same."""


@torch.no_grad()
def transport_plan(cost: Tensor, a: Tensor, b: Tensor, *, epsilon: float | Tensor, iterations: int) -> Tensor:
    """Return the plan after a number of iterations, without gradient. Its columns sum exactly to b.

    Shape: ``cost`` (M, N), ``a`` (M,), ``b`` (N,) -> (M, N).
    """
    epsilon = _bounded(epsilon, cost)
    scores = -cost / epsilon  # (M, N)
    log_a, log_b = a.log(), b.log()
    rows, columns = torch.zeros_like(a), torch.zeros_like(b)  # f / ε and g / ε
    for _ in range(iterations):
        rows = -torch.logsumexp(scores + (columns + log_b), dim=1)
        columns = -torch.logsumexp(scores + (rows + log_a).unsqueeze(1), dim=0)
    return (scores + (rows + log_a).unsqueeze(1) + (columns + log_b)).exp()


def regularised_cost(
    cost: Tensor, a: Tensor, b: Tensor, *, epsilon: float | Tensor, iterations: int
) -> Tensor:
    """Return ⟨P, C⟩ + ε KL(P ‖ a bᵀ) for the plan P after a number of iterations. Shape: ().

    The gradient by C is P, and no gradient goes through the iterations. That is exact for the optimal plan
    (envelope theorem), which P approaches with more iterations.
    """
    epsilon = _bounded(epsilon, cost)
    plan = transport_plan(cost.detach(), a, b, epsilon=epsilon, iterations=iterations)
    entropy = torch.special.xlogy(plan, plan / (a.unsqueeze(1) * b)).sum()
    value: Tensor = (plan * cost).sum() + epsilon * entropy
    return value


def _bounded(epsilon: float | Tensor, cost: Tensor) -> Tensor:
    """Return ε as a tensor like the costs, and at least ``LEAST``. Shape: ()."""
    return torch.as_tensor(epsilon, dtype=cost.dtype, device=cost.device).clamp(min=LEAST)
