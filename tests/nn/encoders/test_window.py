"""Compares the window network with its formula, token by token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import InputError
from gonie.nn import Window

LENGTHS = [5, 1, 3]


def naive(part: Window, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the states (T, H) of one sentence (T, D)."""
    before, after = part.edges.detach().numpy()
    states = []
    for t in range(len(x)):
        around = range(t - part.size // 2, t + part.size // 2 + 1)
        h = np.concatenate([before if i < 0 else after if i >= len(x) else x[i] for i in around])
        for layer in part.linear():
            h = np.tanh(layer.weight.detach().numpy() @ h + layer.bias.detach().numpy())
        states.append(h)
    return np.stack(states)


@pytest.mark.parametrize("size", [1, 3, 5, 11])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_states_equal_the_naive_loop(
    size: int, layers: int, scramble: Callable[[nn.Module], nn.Module], device: str
) -> None:
    part = scramble(Window(width=3, hidden=4, size=size, layers=layers)).double()
    assert isinstance(part, Window)
    x = torch.randn(len(LENGTHS), max(LENGTHS), 3, dtype=torch.float64)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)
    expected = [naive(part, x[row, :length].numpy()) for row, length in enumerate(LENGTHS)]
    states = part.to(device)(x.to(device), mask.to(device)).detach().cpu().numpy()
    for row, length in enumerate(LENGTHS):
        np.testing.assert_allclose(states[row, :length], expected[row], rtol=1e-12, atol=1e-12)


def test_initial_weights_do_not_saturate_tanh() -> None:
    """The range is √6 / √(500 + 100). Four times that would saturate the layer."""
    part = Window(width=100, hidden=100, size=5)
    weight, bias = part.linear()[0].weight, part.linear()[0].bias
    bound = 6**0.5 / 600**0.5
    assert 0.99 * bound < weight.abs().max() <= bound
    assert not bias.any()


@pytest.mark.parametrize(("size", "layers"), [(4, 1), (0, 1), (-1, 1), (3, 0)])
def test_an_invalid_size_or_number_of_layers_is_refused(size: int, layers: int) -> None:
    with pytest.raises(InputError, match=r"size must be odd|layers must be at least 1"):
        Window(width=3, hidden=2, size=size, layers=layers)
