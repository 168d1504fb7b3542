"""Tests max pooling: padding is excluded, and the weights show which tokens have the maxima."""

from __future__ import annotations

import torch

from gonie.nn import Max


def test_padding_does_not_raise_the_maximum_of_negative_values() -> None:
    vectors, weights = Max(width=1)(torch.tensor([[[-5.0], [0.0]]]), torch.tensor([[True, False]]))
    assert vectors.tolist() == [[-5.0]]
    assert weights.tolist() == [[1.0, 0.0]]


def test_weights_are_shares_of_maximal_features_with_ties_divided() -> None:
    x = torch.tensor([[[9.0, 0.0, 1.0, 0.0], [1.0, 0.0, 2.0, 5.0]]])
    _, weights = Max(width=4)(x, torch.ones(1, 2, dtype=torch.bool))
    assert weights.tolist() == [[(1 + 0.5) / 4, (0.5 + 1 + 1) / 4]]


def test_the_gradient_of_a_tie_is_divided_like_the_weights() -> None:
    x = torch.zeros(1, 4, 1, requires_grad=True)
    vectors, weights = Max(width=1)(x, torch.tensor([[True, True, True, False]]))
    vectors.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad[..., 0], weights)
