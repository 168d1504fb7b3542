"""Trained changes of frozen weights: of low rank for matrices, in full for biases."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MatrixChange(nn.Module):
    """W' = W + B A with A (rank, columns), B (rows, rank): LoRA of Hu et al. 2021, arXiv:2106.09685.

    B starts at 0, so W' starts as W. A is normal with variance 1 / rank. So a step of B changes W' about as
    much as a step of the same rate would change W, for any rank. This takes the place of the factor α / r.
    Weights with more than two axes are changed as matrices of their first axis and the product of the others.
    With ``padding``, the first row is that of padding and stays as it is. ``rate`` is the multiple of the
    learning rate for A and B.
    """

    adapts = True

    def __init__(
        self, *, rows: int, columns: int, rank: int, padding: bool = False, rate: float = 1.0
    ) -> None:
        super().__init__()
        self.rate_scale = rate
        self.narrow = nn.Parameter(torch.randn(rank, columns) / rank**0.5)
        self.wide = nn.Parameter(torch.zeros(rows - padding, rank))
        self.padding = padding

    def forward(self, weight: Tensor) -> Tensor:
        """Return the changed weight, in the shape of ``weight``."""
        change = F.pad(self.wide @ self.narrow, (0, 0, int(self.padding), 0))  # (rows, columns)
        return weight + change.view_as(weight)


class BiasChange(nn.Module):
    """b' = b + c, with c starting at 0: biases are few and trained in full (BitFit, arXiv:2106.10199)."""

    adapts = True

    def __init__(self, *, size: int, rate: float = 1.0) -> None:
        super().__init__()
        self.rate_scale = rate
        self.shift = nn.Parameter(torch.zeros(size))

    def forward(self, bias: Tensor) -> Tensor:
        """Return the changed bias. Shape: (size,)."""
        return bias + self.shift
