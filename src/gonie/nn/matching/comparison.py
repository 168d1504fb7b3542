"""Heuristic matching: combine two vectors with their difference and product."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class HeuristicMatching(nn.Module):
    """c = [u; v; |u − v|; u ∘ v]: Mou et al. 2016 (arXiv:1512.08422), Conneau et al. 2017 (arXiv:1705.02364).

    Swapping u and v swaps the first two blocks and leaves the other two unchanged.

    Shape: (N, width), (N, width) -> (N, 4 * width).
    """

    kinks = True  # where u = v

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = 4 * width

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the vectors of the pairs."""
        return torch.cat([first, second, (first - second).abs(), first * second], dim=-1)
