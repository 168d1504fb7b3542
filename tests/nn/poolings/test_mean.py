"""Tests mean pooling: the mean is over the tokens of each text, without padding."""

from __future__ import annotations

import torch

from gonie.nn import AdditiveAttention, Mean


def test_padding_does_not_change_the_mean() -> None:
    x = torch.tensor([[[2.0], [4.0], [100.0]]])
    vectors, weights = Mean(width=1)(x, torch.tensor([[True, True, False]]))
    assert vectors.tolist() == [[3.0]]
    assert weights.tolist() == [[0.5, 0.5, 0.0]]


def test_the_mean_equals_attention_with_zero_queries() -> None:
    """As a baseline of attention, the mean may differ from it only in the weights."""
    attention = AdditiveAttention(width=3, hidden=2)
    torch.nn.init.zeros_(attention.queries)
    x, mask = torch.randn(2, 5, 3), torch.arange(5) < torch.tensor([[5], [2]])
    for uniform, mean in zip(attention(x, mask), Mean(width=3)(x, mask), strict=True):
        torch.testing.assert_close(uniform, mean)


def test_the_length_of_a_long_bfloat16_text_is_exact() -> None:
    """In bfloat16, a count of 3001 tokens rounds to 3008."""
    x, mask = torch.ones(1, 3001, 1).bfloat16(), torch.ones(1, 3001, dtype=torch.bool)
    vectors, weights = Mean(width=1)(x, mask)
    assert vectors.item() == 1.0
    torch.testing.assert_close(weights[0, 0], torch.tensor(1 / 3001))
