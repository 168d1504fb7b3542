"""Entropy of a chain over all paths of a row, a measure of uncertainty."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import forward_backward, moves_of, pairs_of, unary_marginals
from gonie.nn.precision import full_precision


@torch.no_grad()
@full_precision
def entropy(emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return H(y | e) = H(y0) + Σt H(yt+1 | yt), in nats, without gradient.

    A chain's entropy is the sum of its steps' entropies (Cover & Thomas 2006, §2.5). So no large terms
    cancel, as they would in log Z - E[score]. Shape: (B, T, K), (B, T), edges (B, T-1, K, K) -> (B,).
    """
    messages = forward_backward(emissions.to(chain.transitions.dtype), mask, chain, edges)
    unary = unary_marginals(messages)  # (T, K, B)
    total = -_times_log(unary[0], unary[0]).sum(0)  # (B,)
    if len(unary) > 1:
        pairs = pairs_of(messages, moves_of(chain.transitions, mask, edges))  # (T-1, K, K, B)
        before = pairs.sum(2, keepdim=True)  # (T-1, K, 1, B)
        total += (_times_log(pairs, before) - _times_log(pairs, pairs)).sum((0, 1, 2))
    return total.clamp(min=0.0)


def _times_log(p: Tensor, q: Tensor) -> Tensor:
    """Return p log q, 0 where p is 0."""
    product: Tensor = torch.special.xlogy(p, q)
    return product
