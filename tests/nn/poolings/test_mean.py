"""The mean: over a text's own tokens, however long the others are."""

from __future__ import annotations

import torch

from gonie.nn import AdditiveAttention, Mean


def test_padding_does_not_thin_a_short_text() -> None:
    x = torch.tensor([[[2.0], [4.0], [100.0]]])
    vectors, weights = Mean(width=1)(x, torch.tensor([[True, True, False]]))
    assert vectors.tolist() == [[3.0]]
    assert weights.tolist() == [[0.5, 0.5, 0.0]]


def test_it_is_attention_that_has_learned_nothing() -> None:
    """The control of attention must differ from it by the weights alone."""
    attention = AdditiveAttention(width=3, hidden=2)
    torch.nn.init.zeros_(attention.queries)
    x, mask = torch.randn(2, 5, 3), torch.arange(5) < torch.tensor([[5], [2]])
    for uniform, mean in zip(attention(x, mask), Mean(width=3)(x, mask), strict=True):
        torch.testing.assert_close(uniform, mean)


def test_a_long_text_in_bfloat16_is_counted_with_enough_digits() -> None:
    """In bfloat16, 3001 tokens are 3008."""
    x, mask = torch.ones(1, 3001, 1).bfloat16(), torch.ones(1, 3001, dtype=torch.bool)
    vectors, weights = Mean(width=1)(x, mask)
    assert vectors.item() == 1.0
    torch.testing.assert_close(weights[0, 0], torch.tensor(1 / 3001))
