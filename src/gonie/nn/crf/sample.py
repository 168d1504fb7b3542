"""Exact sampling: forward filtering, then backward sampling of each tag given the next one."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import forward_backward, moves_of
from gonie.nn.precision import full_precision


@torch.no_grad()
@full_precision
def sample(
    emissions: Tensor,
    mask: Tensor,
    chain: Chain,
    n: int,
    *,
    edges: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw n paths of each row independently from p(y | e).

    p(ylast) ∝ exp(ahead + e + z), and p(yt = i | yt+1 = j) ∝ exp(ahead[t, i] + e[t, i] + A[i, j]), because
    given yt+1 the tags up to t are independent of all later ones.

    Shape: (B, T, K), (B, T), edges (B, T-1, K, K) -> (B, n, T), -1 past a row's end.
    """
    messages = forward_backward(emissions.to(chain.transitions.dtype), mask, chain, edges)
    prefixes = (messages.ahead + messages.emissions).permute(2, 0, 1)  # (B, T, K)
    B, T, K = prefixes.shape
    last = mask.sum(1) - 1  # (B,)
    after = torch.zeros(B, n, dtype=torch.int64, device=mask.device)
    moves = moves_of(chain.transitions, mask, edges).permute(3, 0, 1, 2).expand(B, -1, K, K)
    tags = []
    for t in range(T - 1, -1, -1):
        going_on = (
            moves[:, min(t, moves.shape[1] - 1)] if t < T - 1 else chain.end.expand(B, K, K)
        )  # (B, K, K)
        onwards = going_on.transpose(1, 2).gather(1, after.unsqueeze(2).expand(B, n, K))  # (B, n, K)
        is_last = (last == t)[:, None, None]  # (B, 1, 1)
        scores = prefixes[:, t].unsqueeze(1) + torch.where(is_last, chain.end, onwards)  # (B, n, K)
        scores = scores.where((t <= last)[:, None, None], 0.0)  # values past the end are unused
        drawn = torch.multinomial(scores.softmax(2).flatten(0, 1), 1, generator=generator)
        after = drawn.view(B, n)
        tags.append(after)
    return torch.stack(tags[::-1], dim=2).masked_fill(~mask.unsqueeze(1), -1)
