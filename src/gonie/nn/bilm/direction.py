"""One of the two readers of a bidirectional language model: layers that all read the same way."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from gonie.nn.bilm.projected_lstm import Carried, ProjectedLSTM
from gonie.nn.dropout import plain


class Direction(nn.Module):
    """x[k] = layer[k](x[k-1]) for the first layer, layer[k](x[k-1]) + x[k-1] from the second on (``skip``).

    Which way the text runs is the caller's: this reads rows in the order in which they are given. Dropout is
    on the input of every layer, and so on what its skip connection adds, each number on its own.

    Shape: ``x`` (T, B, P) -> for each layer (T, B, P), and what each carries on.
    """

    def __init__(self, *, layers: Sequence[ProjectedLSTM], skip: bool, dropout: float) -> None:
        super().__init__()
        self.layers: Sequence[ProjectedLSTM] = nn.ModuleList(layers)  # type: ignore[assignment]
        self.skip = skip
        self.dropout = plain(dropout)

    def start(self, x: Tensor) -> list[Carried]:
        """Nothing carried, for rows that begin."""
        return [layer.start(x) for layer in self.layers]

    def forward(self, x: Tensor, carried: Sequence[Carried]) -> tuple[list[Tensor], list[Carried]]:
        """The states of every layer, and what each carries on."""
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
        """Whether a layer's input is added to its output."""
        return f"skip={self.skip}"
