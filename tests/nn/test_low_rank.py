"""Tests low-rank adapters: the encoder with changed weights, merged and unmerged."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import LSTM, Bidirectional, Convolution, Deep, LowRank, PeepholeLSTM

MASK = torch.tensor([[True, True, True], [True, False, False]])


def both(width: int) -> Bidirectional:
    return Bidirectional(ahead=LSTM(width=width, hidden=4), back=LSTM(width=width, hidden=4))


ENCODERS: dict[str, Callable[[], nn.Module]] = {
    "lstm": lambda: both(5),
    "deep": lambda: Deep(layers=[both(5), both(8)]),
    "peephole": lambda: PeepholeLSTM(width=5, hidden=4),
    "convolution": lambda: Convolution(width=5, hidden=4),
}


def trained(part: LowRank) -> LowRank:
    """Return adapters that are no longer the identity."""
    for weight in part.changes.parameters():
        nn.init.normal_(weight)
    return part


@pytest.fixture
def x() -> Tensor:
    return torch.randn(2, 3, 5)


@pytest.mark.parametrize("name", ENCODERS)
def test_new_adapters_change_no_state_and_merged_weights_give_the_same_states(name: str, x: Tensor) -> None:
    encoder = ENCODERS[name]().eval()
    plain = encoder(x, MASK)
    part = LowRank(part=encoder, rank=2).eval()
    assert torch.equal(part(x, MASK), plain)
    changed = trained(part)(x, MASK)
    assert not torch.allclose(changed, plain)
    with part.merged() as merged:
        assert merged is encoder
        assert torch.equal(merged(x, MASK), changed)
    assert torch.equal(encoder(x, MASK), plain), "the weights of the encoder are its own again"


def test_every_change_has_a_gradient(x: Tensor) -> None:
    part = trained(LowRank(part=both(5), rank=2))
    part.part.requires_grad_(requires_grad=False)
    part(x, MASK).square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in part.changes.parameters())
    assert all(weight.grad is None for weight in part.part.parameters())


def test_few_weights_are_new() -> None:
    encoder = Bidirectional(ahead=LSTM(width=200, hidden=200), back=LSTM(width=200, hidden=200))
    part = LowRank(part=encoder, rank=4)
    new = sum(weight.numel() for weight in part.changes.parameters())
    assert new == 2 * (4 * (2 * (800 + 200)) + 1600)
    assert new / sum(weight.numel() for weight in encoder.parameters()) < 0.05
