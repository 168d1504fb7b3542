"""Tests a stack of layers in one direction: inputs, skip connections, carried states and dropout."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from gonie.nn.bilm import Direction, ProjectedLSTM

P = 3


def stack(scramble: Callable[[nn.Module], nn.Module], *, skip: bool, dropout: float = 0.0) -> Direction:
    layers = [ProjectedLSTM(width=P, hidden=5) for _ in range(3)]
    part = scramble(Direction(layers=layers, skip=skip, dropout=dropout))
    assert isinstance(part, Direction)
    return part


@pytest.mark.parametrize("skip", [True, False])
def test_skip_connections_start_at_the_second_layer(
    skip: bool, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    part = stack(scramble, skip=skip)
    x = torch.randn(6, 2, P)
    states, carried = part(x, part.start(x))
    first, after = part.layers[0](x, part.layers[0].start(x))
    torch.testing.assert_close(states[0], first)
    torch.testing.assert_close(carried[0], after)
    for below, layer, above in zip(states[:-1], part.layers[1:], states[1:], strict=True):
        own, _ = layer(below, layer.start(below))
        torch.testing.assert_close(above, own + below if skip else own)


def test_every_layer_continues_from_its_own_state(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = stack(scramble, skip=True)
    x = torch.randn(9, 2, P)
    whole, end = part(x, part.start(x))
    first, carried = part(x[:5], part.start(x))
    second, further = part(x[5:], carried)
    for one, two, all_of_it in zip(first, second, whole, strict=True):
        torch.testing.assert_close(torch.cat([one, two]), all_of_it)
    torch.testing.assert_close(further, end)


def test_dropout_applies_to_each_layer_input_in_training_only(
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    part = stack(scramble, skip=False, dropout=0.5)
    x = torch.ones(4, 2, P)
    seen: list[torch.Tensor] = []
    for layer in part.layers:
        layer.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    part(x, part.start(x))
    assert all(0 < kept.eq(0).sum() < kept.numel() for kept in seen)
    assert set(seen[0].unique().tolist()) == {0.0, 2.0}
    part.eval()
    seen.clear()
    part(x, part.start(x))
    assert torch.equal(seen[0], x)
