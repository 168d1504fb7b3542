"""The tags of a sentence together, as a linear chain."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.crf.engine import engine
from gonie.nn.crf.layer import CRF
from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Batch


class CRFHead(nn.Module):
    """p(y | x) by a CRF whose emissions are the scores: Huang et al. 2015 (arXiv:1508.01991) §2.5.

    ``options`` (S, K) bool, where given, are the tags that each number of a batch's ``tags`` stands for: the
    loss is then that of all sequences that fit (Tsuboi et al. 2008), among those that the CRF allows.
    """

    options: Tensor | None

    def __init__(self, *, scores: Scores, crf: CRF, options: Tensor | None = None) -> None:
        super().__init__()
        if scores.num_tags != crf.num_tags:
            raise InputError(
                expected=f"a CRF of {scores.num_tags} tags, as the scores have", got=f"{crf.num_tags} tags"
            )
        self.scores = scores
        self.crf = crf
        self.register_buffer("options", options, persistent=False)

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Emissions of the chain. Shape: (B, T, width) -> (B, T, K)."""
        return self.scores(states, batch)  # type: ignore[no-any-return]

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """-log p(tags | scores), mean over sentences. Shape: ().

        The batch is taken as collated: right-padded, no empty row, every token tagged. ``CRF`` itself checks
        that; here the check would stop a GPU at each step.
        """
        chain, tags, mask = self.crf.learned(), batch["tags"], batch["mask"]
        run = engine(scores, chain.transitions.dtype)
        if self.options is None:
            return -run.log_likelihood(scores, tags, mask, chain).mean()
        fitting = scores.masked_fill(~self.options[tags.where(mask, 0)], -torch.inf)
        some, every = self.crf.possible(), chain
        return (run.log_partition(scores, mask, every) - run.log_partition(fitting, mask, some)).mean()

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Transitions (K, K) indexed [from, to], start (K,), end (K,)."""
        return self.crf.chain()
