"""Tests matching after pooling: each text is pooled independently."""

from __future__ import annotations

import torch

from gonie.nn import AdditiveAttention, Max
from gonie.nn.matching import PooledMatching


def test_vectors_compare_texts_pooled_one_by_one() -> None:
    pooling = AdditiveAttention(width=4, hidden=3, heads=2)
    part = PooledMatching(pooling=pooling)
    assert (part.input_width, part.width) == (4, 32)
    a, b = torch.randn(3, 5, 4), torch.randn(3, 2, 4)
    lengths = [(5, 1), (2, 2), (1, 1)]
    a_mask = torch.arange(5) < torch.tensor([[one] for one, _ in lengths])
    b_mask = torch.arange(2) < torch.tensor([[two] for _, two in lengths])
    found = part(a, b, a_mask, b_mask)
    for row, (T1, T2) in enumerate(lengths):
        ones = torch.ones(1, T1, dtype=torch.bool), torch.ones(1, T2, dtype=torch.bool)
        (u, one), (v, two) = pooling(a[row : row + 1, :T1], ones[0]), pooling(b[row : row + 1, :T2], ones[1])
        wanted = torch.cat([u, v, (u - v).abs(), u * v], dim=1)
        torch.testing.assert_close(found.vectors[row : row + 1], wanted)
        torch.testing.assert_close(found.first[row : row + 1, :T1], one)
        torch.testing.assert_close(found.second[row : row + 1, :T2], two)


def test_a_text_has_the_same_vector_on_either_side() -> None:
    part = PooledMatching(pooling=Max(width=4))
    a, mask = torch.randn(2, 3, 4), torch.ones(2, 3, dtype=torch.bool)
    vectors = part(a, a, mask, mask).vectors
    assert torch.equal(vectors[:, :4], vectors[:, 4:8])
    assert not vectors[:, 8:12].any()
