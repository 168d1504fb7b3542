"""Compares the mix of layers with an explicit sum. If these fail, the reported shares are wrong."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from gonie.nn import ScalarMix


@pytest.fixture
def layers() -> Tensor:
    return torch.randn(3, 2, 4, 5) * torch.tensor([1.0, 10.0, 0.1]).view(3, 1, 1, 1) + 2.0


def test_the_initial_mix_is_the_mean(layers: Tensor) -> None:
    torch.testing.assert_close(ScalarMix(layers=3)(layers), layers.mean(0))


def test_the_mix_is_the_scaled_weighted_sum(layers: Tensor) -> None:
    mix = ScalarMix(layers=3)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.5, -1.0, 2.0]))
        mix.scale.fill_(1.7)
    powers = [math.exp(weight) for weight in (0.5, -1.0, 2.0)]
    shares = [power / sum(powers) for power in powers]
    torch.testing.assert_close(mix.shares(), torch.tensor(shares))
    wanted = 1.7 * sum(share * layer for share, layer in zip(shares, layers, strict=True))
    torch.testing.assert_close(mix(layers), wanted)


def test_normalised_tokens_have_mean_0_and_variance_1(layers: Tensor) -> None:
    mix = ScalarMix(layers=3, normalize=True)
    centred = layers - layers.mean(3, keepdim=True)
    level = centred / centred.square().mean(3, keepdim=True).sqrt()
    torch.testing.assert_close(mix(layers), level.mean(0), atol=1e-3, rtol=1e-3)


def test_normalised_tokens_do_not_depend_on_other_tokens(layers: Tensor) -> None:
    mix = ScalarMix(layers=3, normalize=True)
    other = layers.clone()
    other[:, 1, 2] *= 100.0
    changed = (mix(other) != mix(layers)).any(2)
    assert changed.nonzero().tolist() in ([], [[1, 2]])
    torch.testing.assert_close(mix(layers)[:1], mix(layers[:, :1]))


def test_one_layer_can_have_all_the_weight(layers: Tensor) -> None:
    mix = ScalarMix(layers=3)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, 100.0, 0.0]))
    torch.testing.assert_close(mix(layers), layers[1])
