"""The log-odds of a span under a chain, where they can be differentiated."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from gonie.runtime.chain import ChainWeights

IMPOSSIBLE = -1e9
"""The log of nothing, finite so that it has a gradient."""


def span_log_odds(scores: Tensor, chain: ChainWeights, start: int, tags: Sequence[int]) -> Tensor:
    """log p / (1 - p), p the probability that the tokens from ``start`` on carry just ``tags``.

    Two sums over paths go side by side, those that have carried the tags so far and all others: 1 - p is
    never formed, so that a model may be as sure as it likes. In float64.

    Shape: scores (n, T, K) of one sentence, unpadded -> (n,).
    """
    moves, first, last = (
        torch.from_numpy(part).to(scores.device).clamp(min=IMPOSSIBLE)
        for part in (chain.transitions, chain.start, chain.end)
    )
    steps = scores.double().unbind(1)  # (n, K) each
    wanted = dict(enumerate(tags, start=start))
    carrying = first + steps[0]  # (n, K)
    other = torch.full_like(carrying, IMPOSSIBLE)  # (n, K)
    for t, step in enumerate(steps):
        if t:
            carrying, other = ((sums.unsqueeze(2) + moves).logsumexp(1) + step for sums in (carrying, other))
        if t in wanted:
            right = torch.arange(chain.num_tags, device=scores.device) == wanted[t]
            other = torch.logaddexp(other, carrying.masked_fill(right, IMPOSSIBLE))
            carrying = carrying.masked_fill(~right, IMPOSSIBLE)
    return (carrying + last).logsumexp(1) - (other + last).logsumexp(1)
