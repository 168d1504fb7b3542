"""A language model in the middle of its text: what its rows have read so far is a part of it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from gonie.nn.bilm.bilm import CarriedBoth
from gonie.nn.dropout import checked_rate
from gonie.tasks.language_model.torch.network import LanguageModel, TextStretch


class LanguageBatch(NamedTuple):
    """The bytes (U, C) of a batch's distinct words, and each direction's stretch of its rows."""

    chars: Tensor
    ahead: TextStretch
    back: TextStretch


class StatefulReader(nn.Module):
    """Reads stretch after stretch of the same rows, and carries on what it knows from one to the next.

    The carried states are buffers, and a checkpoint keeps them: training goes on in the middle of a sentence
    as if it had never stopped. No gradient flows from one stretch into the one before. In training each row
    forgets what it carries with probability ``forget`` before a stretch: in use a sentence starts from
    nothing, which a model that never does so has not learned to do.

    Shape: a batch of rows (T, B) -> -log p (2, T, B), zero where a target does not count.
    """

    moves = ("states", "cells")
    states: Tensor  # (2, L, B, P)
    cells: Tensor  # (2, L, B, H)

    def __init__(self, *, model: LanguageModel, rows: int, forget: float = 0.0) -> None:
        super().__init__()
        self.model = model
        self.forget = checked_rate(forget)
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

    def loss(self, batch: LanguageBatch) -> Tensor:
        """-log p of a word, a mean over the targets of both directions that count. Shape: ()."""
        losses = self(batch)  # (2, T, B)
        counted = batch.ahead.counts.sum() + batch.back.counts.sum()
        return losses.sum() / counted  # type: ignore[no-any-return]

    def _carried(self) -> CarriedBoth:
        states, cells = self.states.clone(), self.cells.clone()  # autograd keeps what it read
        if self.training and self.forget:
            kept = torch.rand(2, 1, states.shape[2], 1, device=states.device) >= self.forget  # (2, 1, B, 1)
            states, cells = states * kept, cells * kept
        pairs = zip(states, cells, strict=True)
        return CarriedBoth(*(list(zip(h, c, strict=True)) for h, c in pairs))


def _stacked(carried: CarriedBoth, part: int) -> Tensor:
    """The states (part 0) or the cells (1) of all layers of both directions: (2, L, B, …)."""
    return torch.stack([torch.stack([layer[part].detach() for layer in way]) for way in carried])
