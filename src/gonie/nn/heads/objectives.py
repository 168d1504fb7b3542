"""Training objectives of heads: the log-likelihood of exact tags, of partial labels, or of weighted tags.

An objective scores a chain (all tags of a sentence jointly) or independent tokens. For a chain it selects a
likelihood of the ``CRF`` layer and computes nothing itself. It calls the ``unchecked_`` methods, because
batches are already collated (right-padded, no empty row, every token tagged), and a check would wait for the
GPU at each step. Values at padding are ignored.
Shapes: scores (B, T, K), tags (B, T), mask (B, T) -> (B,).
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.crf.layer import CRF


class Objective(Protocol):
    """Interface of an objective: a log-likelihood, which training maximises."""

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return log p(tags | scores) by the CRF, of each row. Shape: (B,)."""
        ...

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return Σt log softmax(scores[t])[yt] of each row. Shape: (B,)."""
        ...


class Exact(nn.Module):
    """Every token has one tag, and all weigh the same. ``of_tokens`` leaves out tokens tagged -1."""

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return ``CRF.log_likelihood``. Shape: (B,)."""
        return crf.unchecked_log_likelihood(scores, tags, mask)

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return the negative cross-entropy. Shape: (B,)."""
        return _log_softmax(scores, tags, mask)


class AnyOf(nn.Module):
    """Partial labels: a tag id stands for a set of tags, one of which is correct.

    ``options`` (S, K) bool are the tags in each set.
    """

    options: Tensor

    def __init__(self, options: Tensor) -> None:
        super().__init__()
        self.register_buffer("options", options, persistent=False)

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return ``CRF.partial_log_likelihood``. Shape: (B,)."""
        return crf.unchecked_partial_log_likelihood(scores, self._options_of(tags, mask), mask)

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return Σt log Σ{k in options} softmax(scores[t])[k]. Shape: (B,)."""
        fitting = scores.masked_fill(~self._options_of(tags, mask), -torch.inf)
        return (fitting.logsumexp(2) - scores.logsumexp(2)).where(mask, 0.0).sum(1)

    def _options_of(self, tags: Tensor, mask: Tensor) -> Tensor:
        """Return which tags each token may have. Shape: (B, T, K)."""
        return self.options[tags.where(mask, 0)]


class Weighted(nn.Module):
    """Every token is weighted by its tag: ``weights`` (K,)."""

    weights: Tensor

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights, persistent=False)

    def of_chain(self, crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return ``CRF.weighted_log_likelihood``: Σt w[yt] log p(yt | yt-1, scores). Shape: (B,)."""
        weights = self.weights.to(crf.transitions)
        return crf.unchecked_weighted_log_likelihood(scores, tags, mask, tag_weights=weights)

    def of_tokens(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return Σt w[yt] log softmax(scores[t])[yt]. Shape: (B,)."""
        return _log_softmax(scores, tags, mask, self.weights.to(scores))


def _log_softmax(scores: Tensor, tags: Tensor, mask: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return Σt w[yt] log softmax(scores[t])[yt] of each row, without tokens tagged -1. Shape: (B,)."""
    gold = tags.masked_fill(~mask, -1)  # (B, T)
    losses = F.cross_entropy(
        scores.flatten(0, 1), gold.flatten(), weight=weights, ignore_index=-1, reduction="none"
    )
    return -losses.view_as(gold).sum(1)
