"""Max pooling: the largest value of each feature. With a convolution, this is the classic CNN for texts."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.nn.poolings.weights import precision_of


class Max(nn.Module):
    """c[i] = max over the real tokens t of h[t, i]: Collobert et al. 2011 §3.2.2, Kim 2014 (arXiv:1408.5882).

    A token's weight is the share of the features of which it has the maximum. Tied tokens share a feature
    evenly, and also its gradient. Ties are common: after a ReLU many features are 0 at all tokens.

    Shape: (B, T, width) -> (B, width) and (B, T).
    """

    kinks = True  # where the maximum changes position

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the weights of the tokens."""
        real = mask.unsqueeze(2)  # (B, T, 1)
        best = x.masked_fill(~real, -torch.inf).amax(1)  # (B, H)
        won = (x == best.unsqueeze(1)).logical_and(real).to(precision_of(x))  # (B, T, H)
        weights = (won / won.sum(1, keepdim=True).clamp(min=1.0)).mean(2)  # (B, T)
        return best.masked_fill(~mask.any(1, keepdim=True), 0.0), weights
