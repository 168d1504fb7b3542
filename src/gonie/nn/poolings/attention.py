"""Additive attention: pool the tokens with weights from a small network."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.initial import glorot_
from gonie.nn.poolings.weights import softmax_weights, weighted_sums


class AdditiveAttention(nn.Module):
    """u[t] = tanh(W h[t] + b);  α = softmax(u[t]ᵀ q) over the real tokens;  c = Σt α[t] h[t].

    Yang et al. 2016, "Hierarchical Attention Networks for Document Classification" (NAACL), §2.2. Each of
    several ``heads`` has its own query q with a shared W. Their vectors are concatenated, as in Lin et al.
    2017 (arXiv:1703.03130), and the returned weights are the mean over heads. W and q are initialised by
    Glorot, b at 0, so that at first all tokens have nearly the same weight.

    Shape: (B, T, width) -> (B, heads * width) and (B, T).
    """

    def __init__(self, *, width: int, hidden: int, heads: int = 1) -> None:
        super().__init__()
        if hidden < 1 or heads < 1:
            raise InputError(f"hidden and heads must be at least 1: hidden={hidden}, heads={heads}")
        self.input_width = width
        self.width = heads * width
        self.heads = heads
        self.layer = nn.Linear(width, hidden)
        self.queries = nn.Parameter(torch.empty(heads, hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights."""
        glorot_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)
        glorot_(self.queries)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the weights of the tokens."""
        x = x.masked_fill(~mask.unsqueeze(2), 0.0)
        weights = self.attend(x, mask)
        return weighted_sums(x, weights), weights.mean(2)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return α of each head, from states that are zero at padding. Shape: (B, T, heads)."""
        return softmax_weights(F.linear(self.layer(x).tanh(), self.queries), mask)

    def extra_repr(self) -> str:
        """Return the number of heads."""
        return f"heads={self.heads}"
