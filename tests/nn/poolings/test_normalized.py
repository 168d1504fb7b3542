"""Tests normalised poolings: the scale of the vectors, and when other texts of the batch affect them."""

from __future__ import annotations

import torch
from torch import nn

from gonie.nn import BatchNorm, Max, Normalized

X = torch.arange(60.0).sin().view(3, 4, 5) * 50 + 20
MASK = torch.arange(4) < torch.tensor([[4], [1], [2]])


def test_layer_norm_scales_each_vector_and_keeps_the_weights() -> None:
    vectors, weights = Normalized(pooling=Max(width=5), norm=nn.LayerNorm(5))(X, MASK)
    torch.testing.assert_close(vectors.mean(1), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(vectors.std(1, correction=0), torch.ones(3), atol=1e-3, rtol=0)
    assert torch.equal(weights, Max(width=5)(X, MASK)[1])


def test_batch_norm_depends_on_the_batch_only_in_training() -> None:
    part = Normalized(pooling=Max(width=5), norm=BatchNorm(width=5))
    together, _ = part.train()(X, MASK)
    pair, _ = part(X[:2], MASK[:2])
    assert not torch.allclose(together[:2], pair)
    together, _ = part.eval()(X, MASK)
    pair, _ = part(X[:2], MASK[:2])
    assert torch.equal(together[:2], pair)
