"""Dropout for pairs of texts: both texts of a pair lose the same features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.nn.dropout import checked_rate


class PairDropout(nn.Module):
    """y[t] = x[t] ∘ m / (1 - rate), with one mask m ~ Bernoulli(1 - rate) for all tokens of both texts.

    Variational dropout (Gal & Ghahramani 2016, arXiv:1512.05287) over a pair. The same word keeps the same
    vector in both texts, so that attention between the texts can still find it. ``places`` (N, 2) are the
    rows of the first and the second text of each pair. Shape: (B, T, D) -> (B, T, D).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = checked_rate(rate)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        """Apply one random mask per pair."""
        if not self.training or self.rate == 0.0:
            return x
        keep = x.new_empty(len(places), 1, x.shape[2]).bernoulli_(1.0 - self.rate)  # (N, 1, D)
        both = torch.cat([keep, keep]).div_(1.0 - self.rate)  # (2N, 1, D)
        masks = x.new_ones(x.shape[0], 1, x.shape[2]).index_copy(0, places.t().reshape(-1), both)  # (B, 1, D)
        return x * masks

    def extra_repr(self) -> str:
        """Return the rate."""
        return f"rate={self.rate}"
