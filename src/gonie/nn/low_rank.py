"""Low-rank adapters: changes with few parameters of the weights of a trained part, which is frozen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call

from gonie.nn.changes import BiasChange, MatrixChange, TableChange
from gonie.nn.protocols import Embedding, Encoder, as_modules


class LowRank(nn.Module):
    """y = part(x), with a trained change of each of its matrices, tables of vectors and biases.

    The part, an encoder or an embedding, runs with the merged weights. So an exported model has neither more
    weights nor more operators than one without adapters. ``rate`` is the multiple of the learning rate for
    the changes. Shape: that of the part.
    """

    wraps = "part"
    part: nn.Module

    def __init__(self, *, part: Encoder | Embedding, rank: int, rate: float = 1.0) -> None:
        super().__init__()
        (self.part,) = as_modules([part])
        self.changes = nn.ModuleList(
            _change(weight, rank=rank, table=_is_table(self.part, name), rate=rate)
            for name, weight in self.part.named_parameters()
        )
        self.input_width: int = getattr(part, "input_width", 0)  # only of an encoder
        self.width = part.width

    def forward(self, *inputs: Any) -> Tensor:
        """Return the output of the part with the merged weights."""
        output: Tensor = functional_call(self.part, self.merged_weights(), inputs)
        return output

    def merged_weights(self) -> dict[str, Tensor]:
        """Return the changed weights by their names in the part."""
        named = zip(self.part.named_parameters(), self.changes, strict=True)
        return {name: change(weight) for (name, weight), change in named}

    @contextmanager
    def merged(self) -> Iterator[nn.Module]:
        """Give the part its merged weights during the block."""
        own = {name: weight.data for name, weight in self.part.named_parameters()}
        merged = {name: weight.detach() for name, weight in self.merged_weights().items()}
        try:
            _put(self.part, merged)
            yield self.part
        finally:
            _put(self.part, own)


def _change(weight: Tensor, *, rank: int, table: bool, rate: float) -> nn.Module:
    if weight.dim() == 1:
        return BiasChange(size=len(weight), rate=rate)
    kind = TableChange if table else MatrixChange
    return kind(rows=len(weight), columns=weight[0].numel(), rank=rank, rate=rate)


def _is_table(part: nn.Module, name: str) -> bool:
    """Return whether a weight has vectors that are looked up, the first of which is that of padding."""
    return getattr(part.get_submodule(name.rpartition(".")[0]), "padding_idx", None) == 0


def _put(part: nn.Module, weights: dict[str, Tensor]) -> None:
    for name, weight in part.named_parameters():
        weight.data = weights[name]
