"""Compares the projection with its formula, and tests its gradients."""

from __future__ import annotations

import numpy as np
import torch

from gonie.nn.matching import Projection


def test_results_equal_the_naive_loop_for_any_leading_axes() -> None:
    part = Projection(width=5, hidden=3).double()
    torch.nn.init.normal_(part.layer.bias)
    assert (part.input_width, part.width) == (5, 3)
    weight, bias = (value.detach().numpy() for value in part.layer.parameters())
    x = torch.randn(2, 4, 5, dtype=torch.float64)
    found = part(x).detach().numpy()
    for row in range(2):
        for token in range(4):
            wanted = [
                max(0.0, float(w @ x[row, token].numpy()) + b) for w, b in zip(weight, bias, strict=True)
            ]
            np.testing.assert_allclose(found[row, token], wanted, rtol=1e-12, atol=1e-12)


def test_gradients_equal_numerical_ones() -> None:
    part = Projection(width=3, hidden=4).double()
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    weights = tuple(weight.detach().clone().requires_grad_() for weight in part.parameters())
    names = [name for name, _ in part.named_parameters()]

    def run(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.func.functional_call(part, dict(zip(names, weights, strict=True)), (x,))
        return found

    assert torch.autograd.gradcheck(run, (x, *weights))
