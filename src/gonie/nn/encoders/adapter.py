"""Adapters: small layers before and after a trained encoder, which is frozen."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.initial import glorot_
from gonie.nn.protocols import Encoder, as_modules


class Adapter(nn.Module):
    """y = x + U relu(D x + b) + c, with a bottleneck of ``hidden`` units (Houlsby et al. 2019).

    D (hidden, width) is initialised by Glorot, U (width, hidden), b and c at 0. So it starts as the identity.
    ``rate`` is the multiple of the learning rate. Shape: (B, T, width) -> (B, T, width). arXiv:1902.00751.
    """

    kinks = True
    adapts = True

    def __init__(self, *, width: int, hidden: int, rate: float = 1.0) -> None:
        super().__init__()
        self.width = width
        self.rate_scale = rate
        self.down = nn.Parameter(glorot_(torch.empty(hidden, width)))
        self.down_bias = nn.Parameter(torch.zeros(hidden))
        self.up = nn.Parameter(torch.zeros(width, hidden))
        self.up_bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """Return the adapted vectors."""
        return x + F.linear(F.linear(x, self.down, self.down_bias).relu(), self.up, self.up_bias)


class Adapted(nn.Module):
    """h = after(encoder(before(x))): an encoder with an adapter at its input and one at its output.

    The states at padding are zero, as those of the encoder. ``rate`` is the multiple of the learning rate for
    the adapters. Shape: (B, T, D) -> (B, T, H).
    """

    wraps = "encoder"

    def __init__(self, *, encoder: Encoder, hidden: int, rate: float = 1.0) -> None:
        super().__init__()
        as_modules([encoder])
        self.encoder = encoder
        self.before = Adapter(width=encoder.input_width, hidden=hidden, rate=rate)
        self.after = Adapter(width=encoder.width, hidden=hidden, rate=rate)
        self.input_width = encoder.input_width
        self.width = encoder.width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the adapted states."""
        states: Tensor = self.after(self.encoder(self.before(x), mask))
        return states.masked_fill(~mask.unsqueeze(2), 0.0)
