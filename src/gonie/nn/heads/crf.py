"""CRF head: tags of a sentence as a linear chain."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.crf.layer import CRF
from gonie.nn.heads.objectives import Exact, Objective
from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Batch


class CRFHead(nn.Module):
    """p(y | x) by a CRF whose emissions are the scores: Huang et al. 2015 (arXiv:1508.01991) §2.5.

    ``objective`` is the training objective, by default ``Exact``.
    """

    def __init__(self, *, scores: Scores, crf: CRF, objective: Objective | None = None) -> None:
        super().__init__()
        if scores.num_tags != crf.num_tags:
            raise InputError(
                f"expected a CRF with {scores.num_tags} tags, as the scores have, got {crf.num_tags}"
            )
        self.scores = scores
        self.crf = crf
        self.objective = objective or Exact()

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the emissions of the chain. Shape: (B, T, width) -> (B, T, K)."""
        return self.scores(states, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -log p(tags | scores), mean over sentences. Shape: ()."""
        return -self.objective.of_chain(self.crf, scores, batch["tags"], batch["mask"]).mean()

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return transitions (K, K) indexed [from, to], start (K,), end (K,)."""
        return self.crf.chain()
