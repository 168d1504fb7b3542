"""Normalisation of pooled vectors, so that short and long texts have the same scale."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.protocols import Pooling


class Normalized(nn.Module):
    """c = norm(pooling(h)), with unchanged weights. ``norm`` maps (B, P) to (B, P).

    ``torch.nn.LayerNorm`` normalises each vector alone. ``gonie.nn.BatchNorm`` uses all vectors of a batch in
    training only. The vector of a text then depends on its batch in training, but not in evaluation.

    Shape: (B, T, H) -> (B, P) and (B, T).
    """

    def __init__(self, *, pooling: Pooling, norm: nn.Module) -> None:
        super().__init__()
        self.input_width = pooling.input_width
        self.width = pooling.width
        self.pooling = pooling
        self.norm = norm

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the normalised vectors, and the weights of the tokens."""
        vectors, weights = self.pooling(x, mask)
        return self.norm(vectors), weights
