"""A token's state beside what it is aligned with, so that the next layer sees how the two differ."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Enhancement(nn.Module):
    """m = [a; ã; a − ã; a ∘ ã]: Chen et al. 2017 (arXiv:1609.06038), eq. 14 and 15.

    The difference keeps its sign, unlike that of ``HeuristicMatching``: a and ã are not two of a kind.

    Shape: (…, width), (…, width) -> (…, 4 * width).
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = 4 * width

    def forward(self, states: Tensor, aligned: Tensor) -> Tensor:
        """The enhanced states."""
        return torch.cat([states, aligned, states - aligned, states * aligned], dim=-1)
