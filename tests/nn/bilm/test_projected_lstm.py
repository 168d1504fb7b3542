"""Compares the projected LSTM with a plain loop and with torch's layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from gonie.nn.bilm import ProjectedLSTM

P, H = 3, 5


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def naive(part: ProjectedLSTM, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the states of one row (T, P), and the final h and c."""
    w = {name: value.detach().cpu().numpy() for name, value in part.named_parameters()}
    states = []
    for xt in x:
        i, f, g, o = np.split(w["input_weight"] @ xt + w["state_weight"] @ h + w["bias"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = w["projection"] @ (sigmoid(o) * np.tanh(c))
        states.append(h)
    return np.stack(states), h, c


@pytest.mark.parametrize("learning", [True, False])
def test_states_equal_the_naive_loop(
    learning: bool, scramble: Callable[[nn.Module], nn.Module], device: str
) -> None:
    """On a CPU, inference and training use different implementations."""
    part = scramble(ProjectedLSTM(width=P, hidden=H)).double().to(device)
    x = torch.randn(7, 4, P, dtype=torch.float64)
    h, c = torch.randn(4, P, dtype=torch.float64), torch.randn(4, H, dtype=torch.float64)
    with torch.set_grad_enabled(learning):
        states, after = part(x.to(device), (h.to(device), c.to(device)))
    for row in range(4):
        expected = naive(part, x[:, row].numpy(), h[row].numpy(), c[row].numpy())
        got = [tensor.detach().cpu().numpy() for tensor in (states[:, row], after[0][row], after[1][row])]
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_states_equal_those_of_torch(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = scramble(ProjectedLSTM(width=P, hidden=H))
    layer = nn.LSTM(P, H, proj_size=P)
    layer.load_state_dict(
        {
            "weight_ih_l0": part.input_weight,
            "weight_hh_l0": part.state_weight,
            "bias_ih_l0": part.bias,
            "bias_hh_l0": torch.zeros(4 * H),
            "weight_hr_l0": part.projection,
        }
    )
    x = torch.randn(6, 2, P)
    states, (h, c) = layer(x)
    ours, (our_h, our_c) = part(x, part.start(x))
    torch.testing.assert_close((ours, our_h, our_c), (states, h[0], c[0]))


@pytest.mark.parametrize("learning", [True, False])
def test_two_segments_equal_one_long_sequence(
    learning: bool, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    part = scramble(ProjectedLSTM(width=P, hidden=H))
    x = torch.randn(9, 2, P)
    with torch.set_grad_enabled(learning):
        whole, end = part(x, part.start(x))
        first, carried = part(x[:4], part.start(x))
        second, further = part(x[4:], carried)
    torch.testing.assert_close(torch.cat([first, second]), whole)
    torch.testing.assert_close(further, end)


def test_carried_states_are_not_overwritten(scramble: Callable[[nn.Module], nn.Module]) -> None:
    """The next segment is computed in place and must not change the states of the previous one."""
    part = scramble(ProjectedLSTM(width=P, hidden=H))
    x = torch.randn(3, 2, P)
    with torch.no_grad():
        states, carried = part(x, part.start(x))
        before = [tensor.clone() for tensor in (x, states, *carried)]
        part(x, carried)
    assert all(map(torch.equal, before, (x, states, *carried)))


def test_the_forget_gate_starts_with_a_bias_of_1() -> None:
    bias = ProjectedLSTM(width=P, hidden=2).bias.tolist()
    assert bias == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
