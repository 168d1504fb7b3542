"""Fresh weights are what their rules say; a wrong scale shows only as a model that learns badly."""

from __future__ import annotations

import math

import torch

from gonie.nn.initial import embedding_, forget_bias_, glorot_, orthogonal_


def test_glorot_uses_each_gate_s_own_fan() -> None:
    weight = glorot_(torch.empty(4 * 50, 30), gates=4)
    bound = math.sqrt(6 / (50 + 30))
    assert weight.abs().max() <= bound
    assert weight.abs().max() > 0.98 * bound


def test_orthogonal_blocks_keep_lengths() -> None:
    for block in orthogonal_(torch.empty(3 * 8, 8), gates=3).chunk(3):
        torch.testing.assert_close(block.t() @ block, torch.eye(8), atol=1e-5, rtol=0)


def test_only_the_forget_gate_is_biased() -> None:
    assert forget_bias_(torch.empty(8)).tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


def test_embeddings_without_padding_leave_no_row_zero() -> None:
    assert embedding_(torch.empty(5, 4), padding=None).abs().sum(1).gt(0).all()
    assert embedding_(torch.empty(5, 4)).abs().sum(1).eq(0).tolist() == [True, False, False, False, False]
