"""A moving average of the weights, which is evaluated and exported in place of the last weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """w̄ ← d·w̄ + (1 − d)·w after every step, with d rising to ``decay`` (Polyak & Juditsky 1992).

    With ``decay`` 0 there is no average, and the weights themselves are used.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._decay = decay
        self._trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.weights = {name: p.detach().clone() for name, p in self._trained.items()} if decay else {}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Add the weights of ``step`` (counted from 0) to the average."""
        if self._decay:
            decay = min(self._decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.weights.values()), list(self._trained.values()), 1.0 - decay)

    def restore(self, weights: Mapping[str, Tensor]) -> None:
        """Restore an average from ``weights``."""
        for name, tensor in weights.items():
            self.weights[name].copy_(tensor)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Use the average as the weights of the model during the block."""
        kept = {name: self._trained[name].detach().clone() for name in self.weights}
        self._put(self.weights)
        try:
            yield
        finally:
            self._put(kept)

    @torch.no_grad()
    def _put(self, weights: Mapping[str, Tensor]) -> None:
        for name, tensor in weights.items():
            self._trained[name].copy_(tensor)
