"""A frozen copy of a model before its first step, which some terms compare the model in training with.

After the weights of ``train.start`` are copied to a new model, the new model computes the states of the start
for any text. So a copy of it stands for the start, and reads batches of the new vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gonie.nn.precision import widened


class FrozenCopy:
    """A copy of a model without dropout and gradients. It is no part of the term that holds it."""

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = copy.deepcopy(model).eval().requires_grad_(requires_grad=False)

    @torch.no_grad()
    def states(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the states of a batch: (B, T, H) of a tagger, (N, P) of a text model."""
        return widened(self.model.states(batch))

    @torch.no_grad()
    def scores(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the scores of a batch: (B, T, K) of a tagger, (N, K) of a text model."""
        return widened(self.model(batch))
