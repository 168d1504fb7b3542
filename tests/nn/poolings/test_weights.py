"""Tests attention weights: padding gets none, and sums keep float32 precision."""

from __future__ import annotations

import torch

from gonie.nn.poolings.weights import precision_of, softmax_weights, weighted_sums


def test_padding_has_no_weight_even_if_real_scores_are_minimal() -> None:
    scores = torch.full((1, 3, 1), torch.finfo(torch.float32).min)
    scores[0, 2] = 50.0
    weights = softmax_weights(scores, torch.tensor([[True, True, False]]))
    assert weights[0, 2].item() == 0.0
    assert weights.isfinite().all()


def test_weights_of_a_long_bfloat16_row_sum_to_one() -> None:
    """In bfloat16, 1000 weights have about two digits each and do not sum to 1."""
    scores = torch.randn(1, 1000, 2, dtype=torch.bfloat16)
    mask = torch.ones(1, 1000, dtype=torch.bool)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        weights = softmax_weights(scores, mask)
        sums = weighted_sums(torch.ones(1, 1000, 3), weights)
    assert weights.dtype == sums.dtype == torch.float32
    torch.testing.assert_close(weights.sum(1), torch.ones(1, 2))
    torch.testing.assert_close(sums, torch.ones(1, 6))


def test_the_vectors_of_heads_are_concatenated() -> None:
    weights = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])  # the first head attends to the first token
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    assert weighted_sums(x, weights).tolist() == [[1.0, 2.0, 3.0, 4.0]]


def test_weights_have_at_least_float32_precision() -> None:
    wanted = {torch.bfloat16: torch.float32, torch.float16: torch.float32, torch.float64: torch.float64}
    assert {dtype: precision_of(torch.zeros(1, dtype=dtype)) for dtype in wanted} == wanted
