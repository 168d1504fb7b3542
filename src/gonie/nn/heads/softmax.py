"""Each token's tag on its own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Batch


class SoftmaxHead(nn.Module):
    """p(y | x) = Πt softmax(scores[t])[yt].

    ``options`` (S, K) bool, where given, are the tags that each number of a batch's ``tags`` stands for: the
    loss is then that of any of them.
    """

    options: Tensor | None

    def __init__(self, *, scores: Scores, options: Tensor | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.register_buffer("options", options, persistent=False)

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Scores of the tags. Shape: (B, T, width) -> (B, T, K)."""
        return self.scores(states, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """-Σt log softmax(scores[t])[yt], mean over sentences; tokens tagged -1 are left out. Shape: ()."""
        if self.options is not None:
            fitting = self.options[batch["tags"].where(batch["mask"], 0)]  # (B, T, K)
            chosen = scores.masked_fill(~fitting, -torch.inf).logsumexp(2) - scores.logsumexp(2)  # (B, T)
            return -chosen.where(batch["mask"], 0.0).sum() / len(chosen)
        gold = batch["tags"].masked_fill(~batch["mask"], -1)  # (B, T)
        total = F.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum")
        return total / gold.shape[0]

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """No chain: transitions, start and end are all 0, so the best path is the best tag of each token."""
        bias = self.scores.bias
        return bias.new_zeros(len(bias), len(bias)), bias.new_zeros(len(bias)), bias.new_zeros(len(bias))
