"""The values of the loss terms in an epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gonie.training.loss_terms.term import LossTerm


class EpochLosses:
    """Sums the values of terms over the steps of an epoch, and notes which of them are not finite.

    The sums are tensors, which are read once per epoch, so that a step does not wait for the GPU.
    """

    def __init__(self, names: Sequence[str] = (), device: torch.device | None = None) -> None:
        self.names = tuple(names)
        self.sums = torch.zeros(len(self.names), dtype=torch.float64, device=device)  # (K,)
        self._broken = torch.zeros(len(self.names), dtype=torch.bool, device=device)  # (K,)

    def recorded(self, terms: Mapping[str, LossTerm]) -> list[LossTerm]:
        """Return the terms in order. Those whose names are known are recorded here at each call."""
        return [
            Recorded(term, self, self.names.index(name)) if name in self.names else term
            for name, term in terms.items()
        ]

    def add(self, number: int, value: Tensor, states: Tensor) -> None:
        """Add a value () of a term for states.

        A term breaks if it is not finite for finite states. Otherwise the model itself is not finite.
        """
        self.sums[number] += value
        self._broken[number] |= ~value.isfinite() & states.sum().isfinite()

    def broken(self) -> str | None:
        """Return the name of the first term that broke, if any."""
        return next((name for name, bad in zip(self.names, self._broken.tolist(), strict=True) if bad), None)

    def means(self, steps: int) -> dict[str, float]:
        """Return the mean of each term over the steps, by name."""
        return dict(zip(self.names, (self.sums / steps).tolist(), strict=True))

    def clear(self) -> None:
        """Start a new epoch."""
        self.sums.zero_()
        self._broken.zero_()


@dataclass(frozen=True)
class Recorded:
    """A term whose values are added to those of an epoch."""

    term: LossTerm
    losses: EpochLosses
    number: int

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor | float:
        """Return the term for a batch. Shape: ()."""
        value = self.term(model, batch, states)
        found = torch.as_tensor(value, device=states.device)
        self.losses.add(self.number, found.detach(), states.detach())
        return value
