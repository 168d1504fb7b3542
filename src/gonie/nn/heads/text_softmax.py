"""Softmax head: one of several labels per text."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.heads.text_objectives import OneOf, TextObjective
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.protocols import Batch


class TextSoftmaxHead(nn.Module):
    """p(y | x) = softmax(scores)[y]. ``objective`` is the training objective, by default ``OneOf``."""

    def __init__(self, *, scores: TextScores, objective: TextObjective | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.objective = objective or OneOf()

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the scores of the labels. Shape: (N, width) -> (N, K)."""
        return self.scores(vectors, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -log p(label | scores), mean over texts. Shape: ()."""
        return -self.objective(scores, batch["labels"]).mean()
