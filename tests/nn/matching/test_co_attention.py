"""Compares attention between two texts with its formula, computed token by token in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from gonie.nn.matching import CoAttention, SoftAlignment

Array = NDArray[np.float64]
WIDTH = 4


def masks(lengths: list[int], longest: int) -> Tensor:
    return torch.arange(longest) < torch.tensor(lengths).unsqueeze(1)


def softmax(scores: list[float]) -> Array:
    powers = np.exp(np.array(scores) - max(scores))
    return powers / powers.sum()


def naive(a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """Return the aligned states of one pair (T1, H), (T2, H), and the attention that its tokens receive."""
    of_b = [softmax([float(ai @ bj) for bj in b]) for ai in a]  # how each token of a attends to b
    of_a = [softmax([float(ai @ bj) for ai in a]) for bj in b]
    meant_a = [sum(weight * bj for weight, bj in zip(weights, b, strict=True)) for weights in of_b]
    meant_b = [sum(weight * ai for weight, ai in zip(weights, a, strict=True)) for weights in of_a]
    return np.array(meant_a), np.array(meant_b), np.mean(of_a, axis=0), np.mean(of_b, axis=0)


@settings(deadline=None, max_examples=50)
@given(
    lengths=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=4),
    seed=st.integers(0, 2**31),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_alignment_equals_the_naive_loop(lengths: list[tuple[int, int]], seed: int, scale: float) -> None:
    torch.manual_seed(seed)
    one, two = ([pair[side] for pair in lengths] for side in (0, 1))
    a = scale * torch.randn(len(lengths), max(one), WIDTH, dtype=torch.float64)
    b = scale * torch.randn(len(lengths), max(two), WIDTH, dtype=torch.float64)
    found = CoAttention()(a, b, masks(one, max(one)), masks(two, max(two)))
    for row, (T1, T2) in enumerate(lengths):
        wanted = naive(a[row, :T1].numpy(), b[row, :T2].numpy())
        got = (found.first[row, :T1], found.second[row, :T2])
        shares = (found.first_shares[row, :T1], found.second_shares[row, :T2])
        for mine, loop in zip((*got, *shares), wanted, strict=True):
            np.testing.assert_allclose(mine.numpy(), loop, rtol=1e-9, atol=1e-12)
        assert not found.first[row, T1:].any()
        assert not found.second[row, T2:].any()
        assert not found.first_shares[row, T1:].any()
        assert not found.second_shares[row, T2:].any()


def test_a_token_is_aligned_with_the_most_similar_one() -> None:
    a = 20.0 * torch.eye(3).unsqueeze(0)
    b = a[:, [2, 0, 1]]
    ones = torch.ones(1, 3, dtype=torch.bool)
    found = CoAttention()(a, b, ones, ones)
    torch.testing.assert_close(found.first, a)
    torch.testing.assert_close(found.second, b)
    torch.testing.assert_close(found.first_shares, torch.full((1, 3), 1 / 3))


def test_swapping_the_texts_swaps_the_results() -> None:
    a, b = torch.randn(2, 3, WIDTH), torch.randn(2, 5, WIDTH)
    a_mask, b_mask = masks([3, 1], 3), masks([2, 5], 5)
    one, two = CoAttention()(a, b, a_mask, b_mask), CoAttention()(b, a, b_mask, a_mask)
    swapped = SoftAlignment(two.second, two.first, two.second_shares, two.first_shares)
    for mine, other in zip(one, swapped, strict=True):
        torch.testing.assert_close(mine, other)


def test_single_tokens_are_aligned_with_each_other() -> None:
    a, b = torch.randn(2, 1, WIDTH), torch.randn(2, 1, WIDTH)
    ones = torch.ones(2, 1, dtype=torch.bool)
    found = CoAttention()(a, b, ones, ones)
    torch.testing.assert_close(found.first, b)
    torch.testing.assert_close(found.second, a)
    assert found.first_shares.eq(1).all()
    assert found.second_shares.eq(1).all()


@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0)])
def test_a_text_without_tokens_gives_no_nan(lengths: tuple[int, int]) -> None:
    a = torch.randn(2, 3, WIDTH, requires_grad=True)
    b = torch.randn(2, 3, WIDTH, requires_grad=True)
    found = CoAttention()(a, b, masks([lengths[0], 2], 3), masks([lengths[1], 2], 3))
    for tensor in found:
        assert not tensor[0].any()  # there is nothing to align
    sum(tensor.square().sum() for tensor in found).backward()  # type: ignore[union-attr]
    for side in (a, b):
        assert side.grad is not None
        assert side.grad.isfinite().all()
        assert not side.grad[0].any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_shares_sum_to_one_at_any_precision(dtype: torch.dtype) -> None:
    """This also holds in bfloat16, where a sum of hundreds of weights is wrong in the third digit."""
    a, b = torch.randn(2, 300, WIDTH).to(dtype), torch.randn(2, 400, WIDTH).to(dtype)
    found = CoAttention()(a, b, masks([300, 77], 300), masks([400, 1], 400))
    assert found.first.dtype == found.second.dtype == dtype
    for shares in (found.first_shares, found.second_shares):
        torch.testing.assert_close(shares.sum(1), torch.ones(2), atol=1e-5, rtol=1e-5)


def test_gradients_equal_numerical_ones() -> None:
    a = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    b = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    a_mask, b_mask = masks([3, 1], 3), masks([2, 4], 4)
    assert torch.autograd.gradcheck(lambda a, b: tuple(CoAttention()(a, b, a_mask, b_mask)), (a, b))
