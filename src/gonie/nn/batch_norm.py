"""Batch normalisation that accepts a batch of one vector.

torch's version refuses to train on one vector, which has no variance. The last batch of an epoch often has
only one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BatchNorm(nn.Module):
    """y = g ∘ (x - mean) / sqrt(variance + 1e-5) + b, for each feature.

    Ioffe & Szegedy 2015 (arXiv:1502.03167). In training, mean and variance are those of the batch, and
    running averages move towards them by a tenth at each step (but see ``averages_kept``). In evaluation, and
    for a batch of one, the running averages are used. g starts at 1, b at 0.

    Shape: (B, width) -> (B, width).
    """

    moves = ("mean", "variance")
    mean: Tensor
    variance: Tensor

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))
        self.moving = True
        """Whether the running averages move in training."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised vectors."""
        if not self.training or len(x) == 1:
            return F.batch_norm(x, self.mean, self.variance, self.weight, self.bias)
        mean, variance = (self.mean, self.variance) if self.moving else (None, None)
        return F.batch_norm(x, mean, variance, self.weight, self.bias, training=True)

    def extra_repr(self) -> str:
        """Return the width."""
        return f"{len(self.bias)}"


@contextmanager
def averages_kept(model: nn.Module) -> Iterator[None]:
    """Keep the running averages of a model as they are, for passes over anything but its training batch."""
    parts = [part for part in model.modules() if isinstance(part, BatchNorm)]
    for part in parts:
        part.moving = False
    try:
        yield
    finally:
        for part in parts:
            part.moving = True
