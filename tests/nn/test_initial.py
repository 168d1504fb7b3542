"""Tests the initial weights. A wrong scale would show only as a model that learns badly."""

from __future__ import annotations

import math

import torch

from gonie.nn.initial import embedding_, forget_bias_, glorot_, orthogonal_


def test_glorot_uses_the_fan_out_of_one_gate() -> None:
    weight = glorot_(torch.empty(4 * 50, 30), gates=4)
    bound = math.sqrt(6 / (50 + 30))
    assert weight.abs().max() <= bound
    assert weight.abs().max() > 0.98 * bound


def test_the_block_of_each_gate_is_orthogonal() -> None:
    for block in orthogonal_(torch.empty(3 * 8, 8), gates=3).chunk(3):
        torch.testing.assert_close(block.t() @ block, torch.eye(8), atol=1e-5, rtol=0)


def test_only_the_forget_gate_has_a_bias_of_1() -> None:
    assert forget_bias_(torch.empty(8)).tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


def test_only_the_padding_row_of_an_embedding_is_zero() -> None:
    assert embedding_(torch.empty(5, 4), padding=None).abs().sum(1).gt(0).all()
    assert embedding_(torch.empty(5, 4)).abs().sum(1).eq(0).tolist() == [True, False, False, False, False]
