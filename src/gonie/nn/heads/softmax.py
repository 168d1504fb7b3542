"""Softmax head: an independent tag for each token."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.heads.objectives import Exact, Objective
from gonie.nn.heads.part_scores import PartScores
from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Batch


class SoftmaxHead(nn.Module):
    """p(y | x) = Πt softmax(scores[t])[yt]. ``objective`` is as for ``CRFHead``."""

    def __init__(self, *, scores: Scores | PartScores, objective: Objective | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.objective = objective or Exact()

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores of the tags. Shape: (B, T, width) -> (B, T, K)."""
        return self.scores(states, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -Σt log softmax(scores[t])[yt], mean over sentences. Shape: ().

        Tokens tagged -1 are left out.
        """
        return -self.objective.of_tokens(scores, batch["tags"], batch["mask"]).mean()

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return a chain of zeros, so that the best path is the best tag of each token."""
        bias = self.scores.bias
        return bias.new_zeros(len(bias), len(bias)), bias.new_zeros(len(bias)), bias.new_zeros(len(bias))
