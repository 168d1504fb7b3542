"""Low-rank adapters: changes with few parameters of the weights of a trained encoder, which is frozen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.func import functional_call

from gonie.nn.changes import BiasChange, MatrixChange
from gonie.nn.protocols import Encoder, as_modules


class LowRank(nn.Module):
    """h = encoder(x), with each of its matrices and biases changed by ``MatrixChange`` or ``BiasChange``.

    The encoder runs with the merged weights, so an exported model has neither more weights nor more operators
    than one without adapters. ``rate`` is the multiple of the learning rate for the changes.
    Shape: (B, T, D) -> (B, T, H).
    """

    wraps = "encoder"

    def __init__(self, *, encoder: Encoder, rank: int, rate: float = 1.0) -> None:
        super().__init__()
        (part,) = as_modules([encoder])
        self.encoder = encoder
        self.changes = nn.ModuleList(_change(weight, rank, rate) for weight in part.parameters())
        self.input_width = encoder.input_width
        self.width = encoder.width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the states of the encoder with the merged weights."""
        states: Tensor = functional_call(self._part, self.merged_weights(), (x, mask))
        return states

    def merged_weights(self) -> dict[str, Tensor]:
        """Return the changed weights by their names in the encoder."""
        named = zip(self._part.named_parameters(), self.changes, strict=True)
        return {name: change(weight) for (name, weight), change in named}

    @contextmanager
    def merged(self) -> Iterator[Encoder]:
        """Give the encoder its merged weights during the block."""
        kept = {name: weight.data for name, weight in self._part.named_parameters()}
        merged = {name: weight.detach() for name, weight in self.merged_weights().items()}
        try:
            _put(self._part, merged)
            yield self.encoder
        finally:
            _put(self._part, kept)

    @property
    def _part(self) -> nn.Module:
        return as_modules([self.encoder])[0]


def _change(weight: Tensor, rank: int, rate: float) -> nn.Module:
    if weight.dim() == 1:
        return BiasChange(size=len(weight), rate=rate)
    return MatrixChange(rows=len(weight), columns=weight[0].numel(), rank=rank, rate=rate)


def _put(part: nn.Module, weights: dict[str, Tensor]) -> None:
    for name, weight in part.named_parameters():
        weight.data = weights[name]
