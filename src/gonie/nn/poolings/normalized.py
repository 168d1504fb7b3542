"""A pooled vector brought to one scale, so that a short text and a long one look alike to what comes next."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.protocols import Pooling


class Normalized(nn.Module):
    """c = norm(pooling(h)), the weights as they are. ``norm`` maps (B, P) to (B, P).

    ``torch.nn.LayerNorm`` looks at each vector alone. ``gonie.nn.BatchNorm`` looks at all vectors of a batch
    in training, and there alone: what a text is trained on then depends on its company, what it is given in
    use does not.

    Shape: (B, T, H) -> (B, P) and (B, T).
    """

    def __init__(self, *, pooling: Pooling, norm: nn.Module) -> None:
        super().__init__()
        self.input_width = pooling.input_width
        self.width = pooling.width
        self.pooling = pooling
        self.norm = norm

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors, normalised, and the tokens' weights."""
        vectors, weights = self.pooling(x, mask)
        return self.norm(vectors), weights
