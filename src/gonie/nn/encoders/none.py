"""No encoder at all: the tokens' vectors go to the head as they are, as in a CRF on features alone."""

from __future__ import annotations

from torch import Tensor, nn


class NoEncoder(nn.Module):
    """Passes vectors through; ``width`` may be 0. Shape: (B, T, D) -> (B, T, D), zero at padding."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """The vectors themselves, zero at padding."""
        return x.masked_fill(~mask.unsqueeze(-1), 0.0)
