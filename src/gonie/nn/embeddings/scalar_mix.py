"""One vector a token from all layers of a language model, in the proportions that a task learns."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """γ Σ_k softmax(w)_k h[k]: Peters et al. 2018 (arXiv:1802.05365) §3.2, eq. 1.

    w starts at 0, the plain mean of the layers, and γ at 1. With ``normalize`` each layer's vectors are first
    brought to mean 0 and variance 1, each token's on its own: over a whole batch, as the paper's code has
    it, a sentence's vectors would depend on its company.

    Shape: (L, B, T, D) -> (B, T, D).
    """

    def __init__(self, *, layers: int, normalize: bool = False) -> None:
        super().__init__()
        self.normalize = normalize
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """The layers, mixed."""
        if self.normalize:
            layers = F.layer_norm(layers, layers.shape[-1:])
        mixed: Tensor = torch.tensordot(self.shares(), layers, dims=1)
        return self.scale * mixed

    def shares(self) -> Tensor:
        """What each layer's share is: at least 0, and 1 together. Shape: (L,)."""
        return self.weights.softmax(0)

    def extra_repr(self) -> str:
        """How many layers are mixed."""
        return f"layers={len(self.weights)}, normalize={self.normalize}"
