"""Tests additive attention: its weights and its heads."""

from __future__ import annotations

import pytest
import torch

from gonie.errors import InputError
from gonie.nn import AdditiveAttention


def test_a_sharp_query_selects_one_token() -> None:
    """Fails if the softmax includes padding, or runs over features."""
    part = AdditiveAttention(width=3, hidden=3)
    with torch.no_grad():
        part.layer.weight.copy_(torch.eye(3))
        part.queries.copy_(torch.tensor([[0.0, 200.0, 0.0]]))
    x = torch.zeros(1, 6, 3)
    x[0, 2] = torch.tensor([0.0, 1.0, 7.0])
    x[0, 5, 1] = 9.0  # stronger, but padding
    vectors, weights = part(x, torch.arange(6).unsqueeze(0) < 5)
    assert weights.argmax().item() == 2
    torch.testing.assert_close(vectors, x[:, 2])


def test_heads_are_independent_and_the_weights_are_their_mean() -> None:
    part = AdditiveAttention(width=4, hidden=5, heads=3)
    x, mask = torch.randn(2, 6, 4), torch.ones(2, 6, dtype=torch.bool)
    vectors, weights = part(x, mask)
    heads = part.attend(x, mask)  # (B, T, heads)
    assert not torch.allclose(heads[..., 0], heads[..., 1])
    torch.testing.assert_close(weights, heads.mean(2))
    torch.testing.assert_close(vectors[:, 4:8], (heads[..., 1:2] * x).sum(1))


@pytest.mark.parametrize(("hidden", "heads"), [(0, 1), (3, 0)])
def test_zero_hidden_units_or_heads_are_refused(hidden: int, heads: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        AdditiveAttention(width=4, hidden=hidden, heads=heads)
