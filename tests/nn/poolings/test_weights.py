"""Weights over real tokens: what would break is an attention that leaks into padding, or loses its digits."""

from __future__ import annotations

import torch

from gonie.nn.poolings.weights import precision_of, softmax_weights, weighted_sums


def test_padding_has_no_weight_even_where_real_scores_are_the_lowest_there_are() -> None:
    scores = torch.full((1, 3, 1), torch.finfo(torch.float32).min)
    scores[0, 2] = 50.0
    weights = softmax_weights(scores, torch.tensor([[True, True, False]]))
    assert weights[0, 2].item() == 0.0
    assert weights.isfinite().all()


def test_a_long_row_in_bfloat16_keeps_its_sum() -> None:
    """1000 weights of two digits each would sum to 1 by luck alone."""
    scores = torch.randn(1, 1000, 2, dtype=torch.bfloat16)
    mask = torch.ones(1, 1000, dtype=torch.bool)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        weights = softmax_weights(scores, mask)
        sums = weighted_sums(torch.ones(1, 1000, 3), weights)
    assert weights.dtype == sums.dtype == torch.float32
    torch.testing.assert_close(weights.sum(1), torch.ones(1, 2))
    torch.testing.assert_close(sums, torch.ones(1, 6))


def test_heads_stand_side_by_side() -> None:
    weights = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])  # the first head looks at the first token
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    assert weighted_sums(x, weights).tolist() == [[1.0, 2.0, 3.0, 4.0]]


def test_weights_have_at_least_the_digits_of_float32() -> None:
    wanted = {torch.bfloat16: torch.float32, torch.float16: torch.float32, torch.float64: torch.float64}
    assert {dtype: precision_of(torch.zeros(1, dtype=dtype)) for dtype in wanted} == wanted
