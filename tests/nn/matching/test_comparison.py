"""Tests heuristic matching: the order of its blocks, and the effect of swapping the texts."""

from __future__ import annotations

import torch

from gonie.nn.matching import HeuristicMatching


def test_the_four_blocks_have_the_expected_values() -> None:
    part = HeuristicMatching(width=3)
    assert (part.input_width, part.width) == (3, 12)
    u, v = torch.randn(5, 3), torch.randn(5, 3)
    found = part(u, v)
    assert found.shape == (5, 12)
    for row in range(5):
        for feature in range(3):
            x, y = u[row, feature].item(), v[row, feature].item()
            torch.testing.assert_close(found[row, feature::3].tolist(), [x, y, abs(x - y), x * y])


def test_swapping_the_texts_swaps_only_the_first_two_blocks() -> None:
    part = HeuristicMatching(width=3)
    u, v = torch.randn(5, 3), torch.randn(5, 3)
    one, two = part(u, v), part(v, u)
    assert torch.equal(one[:, :3], two[:, 3:6])
    assert torch.equal(one[:, 3:6], two[:, :3])
    assert torch.equal(one[:, 6:], two[:, 6:])


def test_equal_vectors_have_zero_difference_and_finite_gradients() -> None:
    u = torch.randn(2, 3, requires_grad=True)
    found = HeuristicMatching(width=3)(u, u)
    assert not found[:, 6:9].any()
    found.sum().backward()
    assert u.grad is not None
    assert u.grad.isfinite().all()


def test_gradients_equal_numerical_ones() -> None:
    u, v = (torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(HeuristicMatching(width=3), (u, v))
