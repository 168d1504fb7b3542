"""What a head learns from: the log-likelihood of a batch's gold tags, exact, known in part, or weighted.

Each answers for a chain, where a sentence's tags are judged together, and for tokens, each on its own. A
batch is taken as collated: right-padded, no empty row, every token tagged; what stands at padding never
matters.
Letters: scores (B, T, K), tags (B, T), mask (B, T) -> (B,).
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.crf.engine import engine
from gonie.nn.crf.layer import CRF
from gonie.nn.crf.weighted import weighted_log_likelihood


class Objective(Protocol):
    """The role: log-likelihoods, to be made large."""

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log p(tags | scores) by the CRF, of each row. Shape: (B,)."""
        ...

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Σt log softmax(scores[t])[yt] of each row. Shape: (B,)."""
        ...


class Exact(nn.Module):
    """Each token has its tag, and all count the same; tokens on their own that are tagged -1 are left out."""

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The CRF's likelihood, unchecked: a check would stop a GPU at each step. Shape: (B,)."""
        chain = crf.learned()
        return engine(scores, chain.transitions.dtype).log_likelihood(scores, tags, mask, chain)

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """-cross-entropy. Shape: (B,)."""
        return _log_softmax(scores, tags, mask)


class AnyOf(nn.Module):
    """A tag's number stands for a set of tags, of which the token has one (Tsuboi et al. 2008).

    ``options`` (S, K) bool are the tags of each number. A chain's sum is over what fits and is allowed.
    """

    options: Tensor

    def __init__(self, options: Tensor) -> None:
        super().__init__()
        self.register_buffer("options", options, persistent=False)

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log of the share that fitting sequences have in all. Shape: (B,)."""
        chain = crf.learned()
        log_partition = engine(scores, chain.transitions.dtype).log_partition
        fitting = scores.masked_fill(~self._open(tags, mask), -torch.inf)
        return log_partition(fitting, mask, crf.possible()) - log_partition(scores, mask, chain)

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log of the share that fitting tags have in all. Shape: (B,)."""
        fitting = scores.masked_fill(~self._open(tags, mask), -torch.inf)
        return (fitting.logsumexp(2) - scores.logsumexp(2)).where(mask, 0.0).sum(1)

    def _open(self, tags: Tensor, mask: Tensor) -> Tensor:
        """Which tags each token may have. Shape: (B, T, K)."""
        return self.options[tags.where(mask, 0)]


class Weighted(nn.Module):
    """Each token counts as much as its tag is worth: ``weights`` (K,).

    For a chain, the factors log p(yt | yt-1, x) are weighted (``nn.crf.weighted`` says why so).
    """

    weights: Tensor

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights, persistent=False)

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Σt w[yt] log p(yt | yt-1, scores). Shape: (B,)."""
        chain = crf.learned()
        moves = torch.ones_like(chain.transitions)
        weights = self.weights.to(moves)
        return weighted_log_likelihood(scores, tags, mask, chain, tag_weights=weights, move_weights=moves)

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Σt w[yt] log softmax(scores[t])[yt]. Shape: (B,)."""
        return _log_softmax(scores, tags, mask, self.weights.to(scores))


def _log_softmax(scores: Tensor, tags: Tensor, mask: Tensor, weights: Tensor | None = None) -> Tensor:
    """Σt w[yt] log softmax(scores[t])[yt] of each row, tokens tagged -1 left out. Shape: (B,)."""
    gold = tags.masked_fill(~mask, -1)  # (B, T)
    losses = F.cross_entropy(
        scores.flatten(0, 1), gold.flatten(), weight=weights, ignore_index=-1, reduction="none"
    )
    return -losses.view_as(gold).sum(1)
