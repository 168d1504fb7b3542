"""One direction of a bidirectional language model: a stack of LSTM layers."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from gonie.nn.bilm.projected_lstm import Carried, ProjectedLSTM
from gonie.nn.dropout import standard_dropout


class Direction(nn.Module):
    """x[k] = layer[k](x[k-1]) for the first layer, layer[k](x[k-1]) + x[k-1] from the second on (``skip``).

    Rows are read in the given order. The caller reverses them for the backward direction. Dropout is applied
    to the input of every layer, so also to its skip connection, independently for each number.

    Shape: ``x`` (T, B, P) -> for each layer (T, B, P), and its carried states.
    """

    def __init__(self, *, layers: Sequence[ProjectedLSTM], skip: bool, dropout: float) -> None:
        super().__init__()
        self.layers: Sequence[ProjectedLSTM] = nn.ModuleList(layers)  # type: ignore[assignment]
        self.skip = skip
        self.dropout = standard_dropout(dropout)

    def start(self, x: Tensor) -> list[Carried]:
        """Return zero states for new rows."""
        return [layer.start(x) for layer in self.layers]

    def forward(self, x: Tensor, carried: Sequence[Carried]) -> tuple[list[Tensor], list[Carried]]:
        """Return the states of every layer, and the final states to carry."""
        states: list[Tensor] = []
        further: list[Carried] = []
        for layer, before in zip(self.layers, carried, strict=True):
            x = self.dropout(x)
            y, after = layer(x, before)
            x = y + x if self.skip and states else y
            states.append(x)
            further.append(after)
        return states, further

    def extra_repr(self) -> str:
        """Return whether a layer's input is added to its output."""
        return f"skip={self.skip}"
