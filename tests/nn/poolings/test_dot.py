"""Tests dot attention: the scale of its scores, and its heads."""

from __future__ import annotations

import math

import pytest
import torch

from gonie.errors import InputError
from gonie.nn import DotAttention


def test_scores_are_scaled_by_the_root_of_the_width() -> None:
    """Without the scale, wide states would make the softmax one-hot before training."""
    part = DotAttention(width=16)
    torch.nn.init.ones_(part.queries)
    x = torch.stack([torch.zeros(16), torch.full((16,), 0.25)]).unsqueeze(0)
    _, weights = part(x, torch.ones(1, 2, dtype=torch.bool))
    torch.testing.assert_close(weights[0, 1] / weights[0, 0], torch.tensor(math.exp(16 * 0.25 / 4)))


def test_heads_are_independent() -> None:
    part = DotAttention(width=4, heads=2)
    x, mask = torch.randn(2, 6, 4), torch.ones(2, 6, dtype=torch.bool)
    vectors, weights = part(x, mask)
    heads = part.attend(x, mask)  # (B, T, heads)
    torch.testing.assert_close(weights, heads.mean(2))
    torch.testing.assert_close(vectors[:, 4:], (heads[..., 1:] * x).sum(1))


def test_zero_heads_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        DotAttention(width=4, heads=0)
