"""Bypass: pass part of a token's vector around the encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.nn.protocols import Encoder, as_modules


class Bypass(nn.Module):
    """h = [encoder(x[:D]); x[D:]], with the last ``passed`` numbers of a token's vector unchanged.

    This also adds contextual vectors to a model's output (Peters et al. 2018, arXiv:1802.05365, §3.3).

    Shape: (B, T, D + passed) -> (B, T, H + passed).
    """

    def __init__(self, *, encoder: Encoder, passed: int) -> None:
        super().__init__()
        as_modules([encoder])
        self.encoder = encoder
        self.passed = passed
        self.input_width = encoder.input_width + passed
        self.width = encoder.width + passed

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the encoder's states with the bypassed vectors, zero at padding."""
        read, past = x.split_with_sizes([self.encoder.input_width, self.passed], dim=2)
        return torch.cat([self.encoder(read, mask), past.masked_fill(~mask.unsqueeze(2), 0.0)], dim=2)
