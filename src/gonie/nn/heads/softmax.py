"""Each token's tag on its own."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.heads.objectives import Exact, Objective
from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Batch


class SoftmaxHead(nn.Module):
    """p(y | x) = Πt softmax(scores[t])[yt]. ``objective`` as for the CRF's head."""

    def __init__(self, *, scores: Scores, objective: Objective | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.objective = objective or Exact()

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Scores of the tags. Shape: (B, T, width) -> (B, T, K)."""
        return self.scores(states, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """-Σt log softmax(scores[t])[yt], mean over sentences; tokens tagged -1 are left out. Shape: ()."""
        return -self.objective.of_tokens(scores, batch["tags"], batch["mask"]).mean()

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """No chain: transitions, start and end are all 0, so the best path is the best tag of each token."""
        bias = self.scores.bias
        return bias.new_zeros(len(bias), len(bias)), bias.new_zeros(len(bias)), bias.new_zeros(len(bias))
