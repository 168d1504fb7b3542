"""Trained changes of frozen weights: of low rank for matrices, in full for biases."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MatrixChange(nn.Module):
    """W' = W + B A with A (rank, columns), B (rows, rank): LoRA of Hu et al. 2021, arXiv:2106.09685.

    B starts at 0, so W' starts as W. A is normal with variance 1 / rank. So a step of B changes W' about as
    much as a step of the same rate would change W, for any rank. This takes the place of the factor α / r.
    Weights with more than two axes are changed as matrices of their first axis and the product of the others.
    ``rate`` is the multiple of the learning rate for A and B.
    """

    adapts = True

    def __init__(self, *, rows: int, columns: int, rank: int, rate: float = 1.0) -> None:
        super().__init__()
        self.rate_scale = rate
        self.narrow = nn.Parameter(_projection(rank, columns))
        self.wide = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the changed weight, in the shape of ``weight``."""
        return weight + (self.wide @ self.narrow).view_as(weight)


class TableChange(nn.Module):
    """W' = W + B A for a table of vectors that are looked up, with the row 0 of padding as it is.

    A (rank, columns) is random and fixed (LoRA-FA, Zhang et al. 2023, arXiv:2308.03303), and B (rows - 1,
    rank) is trained. A batch has few of the rows. A step of A would also move all others, about which the
    batch says nothing.
    """

    adapts = True
    narrow: Tensor

    def __init__(self, *, rows: int, columns: int, rank: int, rate: float = 1.0) -> None:
        super().__init__()
        self.rate_scale = rate
        self.register_buffer("narrow", _projection(rank, columns))
        self.wide = nn.Parameter(torch.zeros(rows - 1, rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the changed vectors. Shape: (rows, columns)."""
        return weight + F.pad(self.wide @ self.narrow, (0, 0, 1, 0))


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


def _projection(rank: int, columns: int) -> Tensor:
    return torch.randn(rank, columns) / math.sqrt(rank)
