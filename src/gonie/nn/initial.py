"""Weight initialisation, each rule with its source.

All functions work in place with torch's global generator. The same seed gives the same weights.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


@torch.no_grad()
def embedding_(table: Tensor, *, padding: int | None = 0) -> Tensor:
    """Draw vectors of total variance 1: uniform on ±sqrt(3 / D), Ma & Hovy 2016 (arXiv:1603.01354) §3.1.

    Row ``padding`` is zero. Shape: ``table`` (rows, D).
    """
    bound = math.sqrt(3.0 / table.shape[1])
    table.uniform_(-bound, bound)
    if padding is not None:
        table[padding].zero_()
    return table


@torch.no_grad()
def glorot_(weight: Tensor, *, gates: int = 1) -> Tensor:
    """Draw uniformly on ±sqrt(6 / (D + H)) for each gate's own H × D block: Glorot & Bengio 2010, eq. 16.

    Shape: ``weight`` (gates * H, D).
    """
    for block in weight.chunk(gates):
        nn.init.xavier_uniform_(block)
    return weight


@torch.no_grad()
def orthogonal_(weight: Tensor, *, gates: int = 1) -> Tensor:
    """Draw a random orthogonal matrix for each gate's H × H block: Saxe et al. 2014 (arXiv:1312.6120).

    At the start of training, states thus neither grow nor vanish. Shape: ``weight`` (gates * H, H).
    """
    for block in weight.chunk(gates):
        nn.init.orthogonal_(block)
    return weight


@torch.no_grad()
def forget_bias_(bias: Tensor) -> Tensor:
    """Set the forget-gate bias to 1, all others to 0: Gers et al. 2000, Jozefowicz et al. 2015.

    Shape: ``bias`` (4 * H,), gates in the order input, forget, cell, output.
    """
    bias.zero_()
    bias.chunk(4)[1].fill_(1.0)
    return bias
