"""Projection with ReLU to narrower vectors, which saves weights in the next layer."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.initial import glorot_


class Projection(nn.Module):
    """y = max(0, W x + b). W is initialised by Glorot, b at 0. Shape: (…, width) -> (…, hidden)."""

    kinks = True  # where W x + b is 0

    def __init__(self, *, width: int, hidden: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = hidden
        self.layer = nn.Linear(width, hidden)
        glorot_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the projected vectors."""
        return self.layer(x).relu()  # type: ignore[no-any-return]
