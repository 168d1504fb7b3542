"""Compares the bag of n-grams with a loop over n-grams."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.nn import Bag

texts = st.lists(st.lists(st.integers(0, 8), max_size=7), min_size=1, max_size=5)


def batch_of(bags: list[list[int]]) -> dict[str, Tensor]:
    counts = torch.tensor([0, *map(len, bags)])
    flat = [gram for bag in bags for gram in bag]
    return {"bag.ids": torch.tensor(flat, dtype=torch.long), "bag.offsets": counts.cumsum(0)}


@settings(deadline=None, max_examples=50)
@given(texts)
def test_the_bag_equals_the_naive_sum(bags: list[list[int]]) -> None:
    """Texts may be empty, even all of them, and repeated n-grams count as often as they occur."""
    part = Bag(group="bag", size=9, width=3).double()
    vectors = part(batch_of(bags))
    assert vectors.shape == (len(bags), 3)
    for vector, bag in zip(vectors, bags, strict=True):
        expected = torch.zeros(3, dtype=torch.float64)
        for gram in bag:
            expected += part.weight[gram].detach() / len(bag) ** 0.5
        torch.testing.assert_close(vector.detach(), expected)


def test_gradients_reach_only_n_grams_that_occur() -> None:
    part = Bag(group="bag", size=5, width=2)
    part(batch_of([[1, 1, 3], []])).sum().backward()
    assert part.weight.grad is not None
    assert part.weight.grad.abs().sum(1).gt(0).tolist() == [False, True, False, True, False]
