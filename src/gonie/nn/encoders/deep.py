"""Stacked encoder layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Encoder, as_modules


class Deep(nn.Module):
    """h = layerN(… drop(layer2(drop(layer1(x)))) …): each layer reads the states of the one below.

    ``dropout`` is applied only between layers. The model applies its own before the first and after the last.
    Shape: (B, T, D) -> (B, T, H of the last layer).
    """

    def __init__(self, *, layers: Sequence[Encoder], dropout: nn.Module | None = None) -> None:
        super().__init__()
        if not layers:
            raise InputError("no layers", fix="Pass at least one, or use NoEncoder")
        for number, (below, above) in enumerate(pairwise(layers), start=2):
            if below.width != above.input_width:
                raise InputError(
                    f"expected layer {number} to take width {below.width}, the output of the layer below, "
                    f"got {above.input_width}"
                )
        self.input_width = layers[0].input_width
        self.width = layers[-1].width
        self.layers = nn.ModuleList(as_modules(layers))
        self.dropout = dropout

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the states of the last layer."""
        for depth, layer in enumerate(self.layers):
            if depth > 0 and self.dropout is not None:
                x = self.dropout(x)
            x = layer(x, mask)
        return x
