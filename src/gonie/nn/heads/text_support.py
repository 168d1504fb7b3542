"""Head of a few-shot classifier: scores by distances to the vectors of support texts."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.nn.heads.support import SUPPORT, SupportScores, SupportStates
from gonie.nn.heads.text_objectives import OneOf, TextObjective
from gonie.nn.protocols import Batch


class TextSupportHead(nn.Module):
    """p(y | x) = softmax(scores)[y], with nothing learned by gradients.

    ``fit`` computes the scores from labelled vectors in closed form. In an episode, a batch with the array
    ``support`` (N,), its support texts take their place, as in ``SupportHead``.
    """

    def __init__(self, *, scores: SupportScores, objective: TextObjective | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.objective = objective or OneOf()

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the scores of the labels. Shape: (N, width) -> (N, K)."""
        if SUPPORT not in batch:
            return self.scores(vectors)
        chosen = batch[SUPPORT] & (batch["labels"] >= 0)  # (N,)
        return self.scores.compare(vectors, vectors[chosen], batch["labels"][chosen])

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -log p(label | scores), mean over texts, or over the queries of an episode. Shape: ()."""
        likelihoods = self.objective(scores, batch["labels"])  # (N,)
        return -(likelihoods if SUPPORT not in batch else likelihoods[~batch[SUPPORT]]).mean()

    def support(self, vectors: Tensor, batch: Batch) -> SupportStates:
        """Return the labelled texts of a batch with ``vectors`` (N, P)."""
        chosen = batch["labels"] >= 0  # (N,)
        rows = torch.arange(len(vectors), device=vectors.device)
        return SupportStates(vectors[chosen], batch["labels"][chosen], rows[chosen])

    def fit(self, support: SupportStates) -> None:
        """Fit the scores to labelled vectors."""
        self.scores.fit(*support)
