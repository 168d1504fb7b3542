"""A language model in the middle of its text: what its rows have read so far is a part of it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from gonie.nn.bilm.carried import CarriedBoth
from gonie.nn.bilm.language_model import LanguageModel, Stretch


class LanguageBatch(NamedTuple):
    """The bytes (U, C) of a batch's distinct words, and each direction's stretch of its rows."""

    chars: Tensor
    ahead: Stretch
    back: Stretch


class Reader(nn.Module):
    """Reads stretch after stretch of the same rows, and carries on what it knows from one to the next.

    The carried states are buffers, and a checkpoint keeps them: training goes on in the middle of a sentence
    as if it had never stopped. No gradient flows from one stretch into the one before.

    Shape: a batch of rows (T, B) -> -log p (2, T, B), zero where a target does not count.
    """

    moves = ("states", "cells")
    states: Tensor  # (2, L, B, P)
    cells: Tensor  # (2, L, B, H)

    def __init__(self, *, model: LanguageModel, rows: int) -> None:
        super().__init__()
        self.model = model
        carried = model.start(rows)
        self.register_buffer("states", _stacked(carried, 0), persistent=False)
        self.register_buffer("cells", _stacked(carried, 1), persistent=False)

    def begin(self) -> None:
        """Forget what was read, at the beginning of a text."""
        self.states.zero_()
        self.cells.zero_()

    def forward(self, batch: LanguageBatch) -> Tensor:
        """-log p of the batch's targets."""
        losses: Tensor
        losses, further = self.model(*batch, self._carried())
        with torch.no_grad():
            self.states.copy_(_stacked(further, 0))
            self.cells.copy_(_stacked(further, 1))
        return losses

    def _carried(self) -> CarriedBoth:
        pairs = zip(self.states.clone(), self.cells.clone(), strict=True)  # autograd keeps what it read
        return CarriedBoth(*(list(zip(h, c, strict=True)) for h, c in pairs))


def _stacked(carried: CarriedBoth, part: int) -> Tensor:
    """The states (part 0) or the cells (1) of all layers of both directions: (2, L, B, …)."""
    return torch.stack([torch.stack([layer[part].detach() for layer in way]) for way in carried])
