"""Compares the moving average of the weights with a naive loop."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gonie.training.average import WeightAverage


def model() -> nn.Sequential:
    torch.manual_seed(3)
    parts = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    parts[1].bias.requires_grad_(False)
    return parts


def test_the_average_equals_a_naive_loop() -> None:
    """The decay rises as (1 + t) / (10 + t), so that the random initial weights soon lose influence."""
    parts = model()
    average = WeightAverage(parts, 0.9)
    naive = {name: p.detach().double() for name, p in parts.named_parameters() if p.requires_grad}
    for step in range(120):
        with torch.no_grad():
            for parameter in parts.parameters():
                parameter.add_(torch.randn_like(parameter))
        average.update(step)
        decay = min(0.9, (1 + step) / (10 + step))
        for name, parameter in parts.named_parameters():
            if name in naive:
                naive[name] = decay * naive[name] + (1 - decay) * parameter.detach().double()
                close = {"rtol": 1e-4, "atol": 1e-5}
                torch.testing.assert_close(average.weights[name].double(), naive[name], **close)
    assert average.weights.keys() == naive.keys()


def test_the_average_is_applied_within_the_block_only() -> None:
    parts = model()
    average = WeightAverage(parts, 0.5)
    with torch.no_grad():
        parts[0].weight.add_(1.0)
    current = parts[0].weight.detach().clone()
    with average.applied():
        assert torch.equal(parts[0].weight, average.weights["0.weight"])
        assert not torch.equal(parts[0].weight, current)
    assert torch.equal(parts[0].weight, current)
    with pytest.raises(ZeroDivisionError), average.applied():
        raise ZeroDivisionError
    assert torch.equal(parts[0].weight, current), "training goes on with its own weights whatever happened"


def test_without_a_decay_there_is_no_average() -> None:
    parts = model()
    average = WeightAverage(parts, 0.0)
    average.update(0)
    assert average.weights == {}
    before = parts[0].weight.detach().clone()
    with average.applied():
        assert torch.equal(parts[0].weight, before)


def test_frozen_weights_are_not_averaged() -> None:
    """Averaging a large table of fixed vectors would waste memory."""
    assert "1.bias" not in WeightAverage(model(), 0.9).weights


def test_a_restored_average_equals_the_original() -> None:
    parts = model()
    one, other = WeightAverage(parts, 0.9), WeightAverage(parts, 0.9)
    with torch.no_grad():
        parts[0].weight.mul_(2.0)
    one.update(50)
    other.restore(one.weights)
    assert one.weights.keys() == other.weights.keys() >= {"0.weight"}
    for name, tensor in one.weights.items():
        assert torch.equal(other.weights[name], tensor)
