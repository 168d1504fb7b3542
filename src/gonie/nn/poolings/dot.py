"""Dot-product attention with a learned query, cheaper than additive attention."""

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

    The scaled product of Vaswani et al. 2017 (arXiv:1706.03762) §3.2.1, with the states as both keys and
    values. Each of several ``heads`` has its own query. Their vectors are concatenated, and the returned
    weights are the mean over heads. q is initialised by Glorot.

    Shape: (B, T, width) -> (B, heads * width) and (B, T).
    """

    def __init__(self, *, width: int, heads: int = 1) -> None:
        super().__init__()
        if heads < 1:
            raise InputError(f"heads must be at least 1: {heads}")
        self.input_width = width
        self.width = heads * width
        self.heads = heads
        self.queries = nn.Parameter(glorot_(torch.empty(heads, width)))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the weights of the tokens."""
        x = x.masked_fill(~mask.unsqueeze(2), 0.0)
        weights = self.attend(x, mask)
        return weighted_sums(x, weights), weights.mean(2)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return α of each head, from states that are zero at padding. Shape: (B, T, heads)."""
        return softmax_weights(F.linear(x, self.queries) / math.sqrt(self.input_width), mask)

    def extra_repr(self) -> str:
        """Return the number of heads."""
        return f"heads={self.heads}"
