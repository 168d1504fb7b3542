"""Attention by a query alone: the cheaper way to weigh tokens, which the additive one is held against."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.initial import glorot_
from gonie.nn.poolings.weights import softmax_weights, weighted_sums


class DotAttention(nn.Module):
    """α = softmax(h[t]ᵀ q / √H) over the real tokens;  c = Σt α[t] h[t], with a learned query q of width H.

    The scaled product of Vaswani et al. 2017 (arXiv:1706.03762) §3.2.1, the states being both keys and
    values. Several ``heads`` have a query each, their vectors side by side; the weights given are then the
    mean over heads. q starts Glorot.

    Shape: (B, T, width) -> (B, heads * width) and (B, T).
    """

    def __init__(self, *, width: int, heads: int = 1) -> None:
        super().__init__()
        if heads < 1:
            raise InputError(expected="heads of at least 1", got=f"{heads}")
        self.input_width = width
        self.width = heads * width
        self.heads = heads
        self.queries = nn.Parameter(glorot_(torch.empty(heads, width)))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors, and the tokens' weights."""
        x = x.masked_fill(~mask.unsqueeze(2), 0.0)
        weights = self.attend(x, mask)
        return weighted_sums(x, weights), weights.mean(2)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """α of each head, from states that are zero at padding. Shape: (B, T, heads)."""
        return softmax_weights(F.linear(x, self.queries) / math.sqrt(self.input_width), mask)

    def extra_repr(self) -> str:
        """The heads."""
        return f"heads={self.heads}"
