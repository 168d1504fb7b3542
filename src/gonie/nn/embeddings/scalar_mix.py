"""Scalar mix: a learned weighted sum of the layers of a language model."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """γ Σ_k softmax(w)_k h[k]: Peters et al. 2018 (arXiv:1802.05365) §3.2, eq. 1.

    w starts at 0, the plain mean of the layers, and γ at 1. With ``normalize``, each layer's vectors are
    first normalised to mean 0 and variance 1, separately for each token. The paper's code normalises over a
    whole batch, so that a sentence's vectors depend on the rest of the batch.

    Shape: (L, B, T, D) -> (B, T, D).
    """

    def __init__(self, *, layers: int, normalize: bool = False) -> None:
        super().__init__()
        self.normalize = normalize
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """Return the mixed layers."""
        if self.normalize:
            layers = F.layer_norm(layers, layers.shape[-1:])
        mixed: Tensor = torch.tensordot(self.shares(), layers, dims=1)
        return self.scale * mixed

    def shares(self) -> Tensor:
        """Return the share of each layer, nonnegative and with sum 1. Shape: (L,)."""
        return self.weights.softmax(0)

    def extra_repr(self) -> str:
        """Return the number of layers and whether they are normalised."""
        return f"layers={len(self.weights)}, normalize={self.normalize}"
