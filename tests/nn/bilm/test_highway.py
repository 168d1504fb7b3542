"""Compares the highway layer with its formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from gonie.nn.bilm import Highway


def test_the_output_equals_the_formula(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = scramble(Highway(width=4)).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    w = {name: value.detach().numpy() for name, value in part.named_parameters()}
    for row, y in zip(x.numpy(), part(x).detach().numpy(), strict=True):
        gate = 1 / (1 + np.exp(-(w["gate.weight"] @ row + w["gate.bias"])))
        changed = np.maximum(w["transform.weight"] @ row + w["transform.bias"], 0)
        np.testing.assert_allclose(y, gate * changed + (1 - gate) * row)


def test_initially_most_of_the_input_passes_unchanged() -> None:
    part = Highway(width=8)
    x = torch.randn(50, 8)
    with torch.no_grad():
        assert (part(x) - x).norm() < 0.4 * x.norm()
