"""Identity encoder: the vectors go unchanged to the head, as in a CRF on features alone."""

from __future__ import annotations

from torch import Tensor, nn


class NoEncoder(nn.Module):
    """Pass vectors through; ``width`` may be 0. Shape: (B, T, D) -> (B, T, D), zero at padding."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the vectors, zero at padding."""
        return x.masked_fill(~mask.unsqueeze(-1), 0.0)
