"""Compares the clipped LSTM with a plain loop, and tests that its bounds take effect."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from gonie.nn.bilm import ClippedLSTM, ProjectedLSTM

P, H = 3, 5


def clipped(scramble: Callable[[nn.Module], nn.Module], cell: float, state: float) -> ClippedLSTM:
    part = scramble(ClippedLSTM(width=P, hidden=H, cell_clip=cell, state_clip=state)).double()
    assert isinstance(part, ClippedLSTM)
    return part


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def naive(part: ClippedLSTM, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the states and the last cells of one row (T, P)."""
    w = {name: value.detach().numpy() for name, value in part.named_parameters()}
    h, c, states = np.zeros(P), np.zeros(H), []
    for xt in x:
        i, f, g, o = np.split(w["input_weight"] @ xt + w["state_weight"] @ h + w["bias"], 4)
        c = np.clip(sigmoid(f) * c + sigmoid(i) * np.tanh(g), -part.cell_clip, part.cell_clip)
        h = np.clip(w["projection"] @ (sigmoid(o) * np.tanh(c)), -part.state_clip, part.state_clip)
        states.append(h)
    return np.stack(states), c


@pytest.mark.parametrize(("cell", "state"), [(0.3, 0.1), (3.0, 3.0), (0.1, 9.0)])
def test_states_and_cells_equal_the_naive_loop(
    cell: float, state: float, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    part = clipped(scramble, cell, state)
    x = torch.randn(8, 3, P, dtype=torch.float64)
    states, (h, c) = part(x, part.start(x))
    for row in range(3):
        expected, cells = naive(part, x[:, row].numpy())
        np.testing.assert_allclose(states[:, row].detach().numpy(), expected, rtol=1e-9)
        np.testing.assert_allclose(c[row].detach().numpy(), cells, rtol=1e-9)
    assert torch.equal(h, states[-1])


def test_tight_bounds_clip_and_wide_bounds_do_not(scramble: Callable[[nn.Module], nn.Module]) -> None:
    tight = clipped(scramble, 0.2, 0.05)
    x = torch.randn(8, 3, P, dtype=torch.float64)
    states, (_, c) = tight(x, tight.start(x))
    assert states.abs().max() == 0.05
    assert c.abs().max() == 0.2
    free, wide = ProjectedLSTM(width=P, hidden=H).double(), clipped(scramble, 1e3, 1e3)
    free.load_state_dict(wide.state_dict())
    torch.testing.assert_close(wide(x, wide.start(x)), free(x, free.start(x)))


def test_two_segments_equal_one_long_sequence(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = clipped(scramble, 0.3, 0.1)
    x = torch.randn(9, 2, P, dtype=torch.float64)
    whole, end = part(x, part.start(x))
    first, carried = part(x[:4], part.start(x))
    second, further = part(x[4:], carried)
    torch.testing.assert_close(torch.cat([first, second]), whole)
    torch.testing.assert_close(further, end)


def test_gradients_equal_numerical_ones(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = clipped(scramble, 0.3, 0.1)
    names = [name for name, _ in part.named_parameters()]
    x = torch.randn(3, 2, P, dtype=torch.float64, requires_grad=True)

    def states(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        named = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(part, named, (x, part.start(x)))[0]

    weights = [weight.detach().clone().requires_grad_() for weight in part.parameters()]
    assert torch.autograd.gradcheck(states, (x, *weights))
