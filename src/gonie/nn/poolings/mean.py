"""Mean pooling, which is attention with uniform weights and its baseline."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.poolings.weights import precision_of


class Mean(nn.Module):
    """c = Σt h[t] / T over the real tokens, each with weight 1 / T. Shape: (B, T, width) -> (B, width)."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the weights of the tokens."""
        states = x.masked_fill(~mask.unsqueeze(2), 0.0).to(precision_of(x))
        real = mask.to(states.dtype)  # (B, T)
        tokens = real.sum(1, keepdim=True).clamp(min=1.0)  # (B, 1)
        return (states.sum(1) / tokens).to(x.dtype), real / tokens
