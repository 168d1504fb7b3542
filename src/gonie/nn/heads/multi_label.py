"""Multi-label head: any number of labels per text."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.heads.text_objectives import AnyNumber, TextObjective
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.protocols import Batch


class MultiLabelHead(nn.Module):
    """p(text has label k | x) = sigmoid(scores[k]), independently for each label.

    ``objective`` is the training objective, by default ``AnyNumber``.
    """

    def __init__(self, *, scores: TextScores, objective: TextObjective | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.objective = objective or AnyNumber()

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the scores of the labels. Shape: (N, width) -> (N, K)."""
        return self.scores(vectors, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -log p(labels | scores), summed over labels, mean over texts. Shape: ()."""
        return -self.objective(scores, batch["labels"]).mean()
