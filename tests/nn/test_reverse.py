"""Tests the reversal of padded rows, which the backward direction of every bidirectional layer uses."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.nn.reverse import reversal, reverse


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_each_row_is_reversed_without_its_padding(lengths: list[int]) -> None:
    width = max(lengths) + 1
    x = torch.randn(len(lengths), width, 3)
    order = reversal(torch.arange(width) < torch.tensor(lengths).unsqueeze(1))
    got = reverse(x, order)
    for row, n in enumerate(lengths):
        assert torch.equal(got[row], torch.cat([x[row, :n].flip(0), x[row, n:]]))
    assert torch.equal(reverse(got, order), x)


def test_gradients_equal_numerical_ones() -> None:
    x = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    order = reversal(torch.arange(4) < torch.tensor([[4], [2]]))
    assert torch.autograd.gradcheck(lambda x: reverse(x, order), (x,))
    assert torch.autograd.gradgradcheck(lambda x: reverse(x, order), (x,))


def test_tensors_of_any_memory_layout_are_accepted() -> None:
    x = torch.randn(4, 3, 2).transpose(0, 1)  # (3, 4, 2), time first in memory
    order = reversal(torch.arange(4) < torch.tensor([[4], [1], [3]]))
    assert torch.equal(reverse(x, order), reverse(x.contiguous(), order))
