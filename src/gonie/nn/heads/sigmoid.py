"""Sigmoid head: binary classification of each token."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.heads.objectives import Exact, Objective
from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Batch


class SigmoidHead(nn.Module):
    """p(yt = the class | x) = sigmoid(scores[t]).

    One output for two tags; tag ``outside`` is the negative class.

    The scores are returned as those of two tags, 0 and z. Since softmax(0, z) is sigmoid(z), decoding and
    objectives for tags work unchanged. ``objective`` is as for ``CRFHead``.
    """

    def __init__(self, *, scores: Scores, outside: int = 0, objective: Objective | None = None) -> None:
        super().__init__()
        if scores.num_tags != 1:
            raise InputError(f"expected scores with 1 output, got {scores.num_tags}")
        if outside not in (0, 1):
            raise InputError(f"outside must be tag 0 or 1: {outside}")
        self.scores = scores
        self.outside = outside
        self.objective = objective or Exact()

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores of both tags, that of ``outside`` always 0. Shape: (B, T, width) -> (B, T, 2)."""
        z = self.scores(states, batch)  # (B, T, 1)
        return F.pad(z, (1, 0) if self.outside == 0 else (0, 1))

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the cross-entropy, mean over sentences. Tokens tagged -1 are left out. Shape: ()."""
        return -self.objective.of_tokens(scores, batch["tags"], batch["mask"]).mean()

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return a chain of zeros, as there are no transitions."""
        bias = self.scores.bias
        return bias.new_zeros(2, 2), bias.new_zeros(2), bias.new_zeros(2)
