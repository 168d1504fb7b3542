"""Likelihood with weights on tags and moves, for rare but important classes."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import moves_of
from gonie.nn.precision import full_precision


@full_precision
def weighted_log_likelihood(
    emissions: Tensor,
    tags: Tensor,
    mask: Tensor,
    chain: Chain,
    *,
    tag_weights: Tensor,
    move_weights: Tensor,
    edges: Tensor | None = None,
) -> Tensor:
    """Return Σt w[t] log p(yt | yt-1, x), with a weight for each tag and move.

    w[0] = tag_weights[y0], w[t] = tag_weights[yt] move_weights[yt-1, yt].

    By the chain rule a CRF's likelihood is Σt log p(yt | yt-1, x), because given yt-1 and x nothing earlier
    matters. Here each term is weighted by its tag and its move. Every term is the logarithm of a conditional
    probability. So for any positive weights, the expectation is largest where the model has the true
    conditionals. It is a proper objective, and the standard one if all weights are 1.

        log p(yt = j | yt-1 = i, x) = A[i, j] + e[t, j] + back[t, j] - back[t-1, i]

    ``back`` is differentiated through its steps, which is slower than the standard likelihood.
    Shape: ``emissions`` (B, T, K), ``tags`` (B, T), ``mask`` (B, T), ``tag_weights`` (K,), ``move_weights``
    (K, K), ``edges`` (B, T-1, K, K) -> (B,). Inputs are not checked.
    """
    kind = chain.transitions.dtype
    scores = emissions.to(kind).where(mask.unsqueeze(2), 0.0)  # (B, T, K)
    B, T, K = scores.shape
    path = tags.where(mask, 0)  # (B, T)
    moves = moves_of(chain.transitions, mask, edges).permute(3, 0, 1, 2)  # (B or 1, T-1 or 1, K, K)
    moves = moves.expand(B, T - 1, K, K) if T > 1 else moves[:, :0].expand(B, 0, K, K)
    last = mask.sum(1) - 1  # (B,)
    after = chain.end.expand(B, K)  # back[T-1]
    total = scores.new_zeros(B)
    for t in range(T - 1, 0, -1):
        after = torch.where((last == t).unsqueeze(1), chain.end, after)
        onwards = moves[:, t - 1] + (scores[:, t] + after).unsqueeze(1)  # (B, K, K)
        before = onwards.logsumexp(2)  # (B, K): back[t-1]
        i, j = path[:, t - 1], path[:, t]
        row = torch.arange(B, device=path.device)
        log_p = onwards[row, i, j] - before[row, i]
        total = total + (tag_weights[j] * move_weights[i, j] * log_p).where(mask[:, t], 0.0)
        after = before
    after = torch.where((last == 0).unsqueeze(1), chain.end, after)
    first = (chain.start + scores[:, 0] + after).log_softmax(1).gather(1, path[:, :1]).squeeze(1)  # (B,)
    return total + tag_weights[path[:, 0]] * first
