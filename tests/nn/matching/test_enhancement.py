"""Tests the enhanced states: the order of the blocks, and the sign of the difference."""

from __future__ import annotations

import torch

from gonie.nn.matching import Enhancement


def test_the_four_blocks_have_the_expected_values() -> None:
    part = Enhancement(width=3)
    assert (part.input_width, part.width) == (3, 12)
    a, meant = torch.randn(2, 4, 3), torch.randn(2, 4, 3)
    found = part(a, meant)
    assert found.shape == (2, 4, 12)
    for row in range(2):
        for token in range(4):
            for feature in range(3):
                x, y = a[row, token, feature].item(), meant[row, token, feature].item()
                got = found[row, token, feature::3].tolist()
                torch.testing.assert_close(got, [x, y, x - y, x * y])


def test_gradients_equal_numerical_ones() -> None:
    a, meant = (torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(Enhancement(width=2), (a, meant))
