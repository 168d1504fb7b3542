"""Sigmoid head of a binary text classifier, with a single output."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.heads.text_objectives import OneOf, TextObjective
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.protocols import Batch


class TextSigmoidHead(nn.Module):
    """p(y = label 1 | x) = sigmoid(z), z the single output.

    The scores are returned as those of two labels, 0 and z. Since the second of softmax(0, z) is sigmoid(z),
    anything that takes label scores works unchanged. ``objective`` is as for ``TextSoftmaxHead``.
    """

    def __init__(self, *, scores: TextScores, objective: TextObjective | None = None) -> None:
        super().__init__()
        if scores.num_labels != 1:
            raise InputError(f"expected scores with 1 output, got {scores.num_labels}")
        self.scores = scores
        self.objective = objective or OneOf()

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the scores of both labels, that of the first always 0. Shape: (N, width) -> (N, 2)."""
        return F.pad(self.scores(vectors, batch), (1, 0))

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -log p(label | scores), mean over texts. Shape: ()."""
        return -self.objective(scores, batch["labels"]).mean()
