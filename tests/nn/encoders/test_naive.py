"""Compares every recurrent layer with its formula, computed step by step in numpy.

If one of these fails, the network differs from the paper and the documentation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.nn import LSTM, Bidirectional, Deep, Elman, PeepholeLSTM

Array = NDArray[np.float64]
LENGTHS = [5, 1, 3]
WIDTH, HIDDEN = 3, 4


def sigmoid(z: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-z))


def values(part: nn.Module) -> dict[str, Array]:
    return {name: value.detach().numpy() for name, value in part.named_parameters()}


def naive_elman(part: Elman, x: Array) -> Array:
    """Return the states (T, H) of one sentence (T, D)."""
    w, h, states = values(part), np.zeros(part.width), []
    for xt in x:
        z = w["weight_ih"] @ xt + w["weight_hh"] @ h + w["bias"]
        h = np.tanh(z) if part.activation == "tanh" else sigmoid(z)
        states.append(h)
    return np.stack(states)


def naive_lstm(part: LSTM, x: Array) -> Array:
    w = values(part.lstm)
    h, c, states = np.zeros(part.width), np.zeros(part.width), []
    for xt in x:
        z = w["weight_ih_l0"] @ xt + w["bias_ih_l0"] + w["weight_hh_l0"] @ h + w["bias_hh_l0"]
        zi, zf, zc, zo = np.split(z, 4)
        c = sigmoid(zf) * c + sigmoid(zi) * np.tanh(zc)
        h = sigmoid(zo) * np.tanh(c)
        states.append(h)
    return np.stack(states)


def naive_peephole(part: PeepholeLSTM, x: Array) -> Array:
    w = values(part)
    look_i, look_f, look_o = w["peepholes"]
    h, c, states = np.zeros(part.width), np.zeros(part.width), []
    for xt in x:
        zi, zf, zc, zo = np.split(w["weight_ih"] @ xt + w["weight_hh"] @ h + w["bias"], 4)
        i = sigmoid(zi + look_i * c)
        f = sigmoid(zf + look_f * c)
        c = f * c + i * np.tanh(zc)
        o = sigmoid(zo + look_o * c)  # the new cell
        h = o * np.tanh(c)
        states.append(h)
    return np.stack(states)


def naive(part: nn.Module, x: Array) -> Array:
    if isinstance(part, Deep):
        for layer in part.layers:
            x = naive(layer, x)
        return x
    if isinstance(part, Bidirectional):
        return np.concatenate([naive(part.ahead, x), naive(part.back, x[::-1])[::-1]], axis=1)
    loops = {Elman: naive_elman, LSTM: naive_lstm, PeepholeLSTM: naive_peephole}
    return loops[type(part)](part, x)


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "elman_tanh": lambda width: Elman(width=width, hidden=HIDDEN, activation="tanh"),
    "elman_sigmoid": lambda width: Elman(width=width, hidden=HIDDEN, activation="sigmoid"),
    "lstm": lambda width: LSTM(width=width, hidden=HIDDEN),
    "peephole": lambda width: PeepholeLSTM(width=width, hidden=HIDDEN),
}


def one_way(layer: Callable[[int], nn.Module], width: int) -> nn.Module:
    return layer(width)


def both_ways(layer: Callable[[int], nn.Module], width: int) -> nn.Module:
    return Bidirectional(ahead=layer(width), back=layer(width))


def deep(layer: Callable[[int], nn.Module], width: int) -> nn.Module:
    return Deep(layers=[layer(width), both_ways(layer, HIDDEN), layer(2 * HIDDEN)])


@pytest.mark.parametrize("shape", [one_way, both_ways, deep])
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_encoder_equals_the_naive_loop(
    shape: Callable[[Callable[[int], nn.Module], int], nn.Module],
    layer: Callable[[int], nn.Module],
    dtype: torch.dtype,
    scramble: Callable[[nn.Module], nn.Module],
    device: str,
) -> None:
    part, tolerance = scramble(shape(layer, WIDTH)).to(dtype), 1e-12 if dtype == torch.float64 else 1e-5
    x = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, dtype=dtype)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)
    expected = [naive(part, x[row, :length].numpy()) for row, length in enumerate(LENGTHS)]
    states = part.to(device)(x.to(device), mask.to(device)).detach().cpu().numpy()
    for row, length in enumerate(LENGTHS):
        np.testing.assert_allclose(states[row, :length], expected[row], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_hand_written_gradients_equal_numerical_ones(
    layer: Callable[[int], nn.Module], length: int, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    part = scramble(layer(WIDTH)).double()
    names = [name for name, _ in part.named_parameters()]
    x = torch.randn(2, length, WIDTH, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(2, length, dtype=torch.bool)
    mask[1, 1:] = False

    def states(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(part, dict(zip(names, weights, strict=True)), (x, mask))

    weights = [weight.detach().clone().requires_grad_() for weight in part.parameters()]
    assert torch.autograd.gradcheck(states, (x, *weights))
