"""Enhancement: combine a token's state with its aligned state, their difference and product."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Enhancement(nn.Module):
    """m = [a; ã; a − ã; a ∘ ã]: Chen et al. 2017 (arXiv:1609.06038), eq. 14 and 15.

    Unlike in ``HeuristicMatching``, the difference keeps its sign, because a and ã have different roles.

    Shape: (…, width), (…, width) -> (…, 4 * width).
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = 4 * width

    def forward(self, states: Tensor, aligned: Tensor) -> Tensor:
        """Return the enhanced states."""
        return torch.cat([states, aligned, states - aligned, states * aligned], dim=-1)
