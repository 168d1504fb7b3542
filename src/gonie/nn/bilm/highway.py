"""Highway layer: a gate mixes the transformed input and the input itself."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.initial import glorot_


class Highway(nn.Module):
    """y = g ∘ relu(W x + b) + (1 - g) ∘ x,  g = σ(V x + c): Srivastava et al. 2015 (arXiv:1505.00387).

    c starts at -2, so that most of the input passes at first. Shape: (..., D) -> (..., D).
    """

    kinks = True  # at 0, because of the ReLU

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights: matrices Glorot, b 0, c -2."""
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            glorot_(layer.weight)
            nn.init.constant_(layer.bias, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the gated mixture of input and transformed input."""
        return torch.lerp(x, F.relu(self.transform(x)), torch.sigmoid(self.gate(x)))
