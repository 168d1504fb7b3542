"""Exact n-best decoding: Viterbi with the n best prefixes of each tag instead of one."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import moves_of
from gonie.nn.precision import full_precision


@torch.no_grad()
@full_precision
def nbest(
    emissions: Tensor, mask: Tensor, chain: Chain, n: int, edges: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the n paths with the highest scores, best first.

    best[t, j] holds the n best scores of a path to tag j. The n best to the next tag are among their K n
    continuations, because every prefix of an n-best path is itself among the n best to its tag. Steps are
    shifted to a largest value of 0, so that a long sentence loses no precision.

    Shape: ``emissions`` (B, T, K), ``mask`` (B, T), ``edges`` (B, T-1, K, K), unchecked -> tags (B, n, T), -1
    past a row's end, and scores (B, n); -1 and -inf where a row has fewer than n paths.
    """
    scores = emissions.to(chain.transitions.dtype)
    B, T, K = scores.shape
    moves = moves_of(chain.transitions, mask, edges).expand(T - 1, K, K, -1) if T > 1 else None
    best = scores.new_full((B, K, n), -torch.inf)
    best[:, :, 0] = chain.start + scores[:, 0]
    shift = scores.new_zeros(B)
    stay = torch.arange(K * n, device=scores.device).view(K, n)
    choices = []  # (B, K, n) each: index among the K n prefixes of the previous step
    for t in range(1, T):
        assert moves is not None
        reached = best.unsqueeze(3) + moves[t - 1].permute(2, 0, 1).unsqueeze(2)  # (B, K, n, K)
        found, choice = reached.flatten(1, 2).topk(n, dim=1)  # (B, n, K) each
        found = found.transpose(1, 2) + scores[:, t].unsqueeze(2)  # (B, K, n)
        top = found.amax((1, 2)).nan_to_num(neginf=0.0)  # (B,)
        going = mask[:, t]
        best = torch.where(going[:, None, None], found - top[:, None, None], best)
        shift += top.where(going, 0.0)
        choices.append(torch.where(going[:, None, None], choice.transpose(1, 2), stay))
    final, last = (best + chain.end[:, None]).flatten(1).topk(n, dim=1)  # (B, n) each
    steps = [last]
    for choice in reversed(choices):
        steps.append(choice.flatten(1).gather(1, steps[-1]))
    tags = torch.stack(steps[::-1], dim=2).div(n, rounding_mode="floor")  # (B, n, T)
    possible = final > -torch.inf  # (B, n)
    tags = tags.masked_fill(~(mask.unsqueeze(1) & possible.unsqueeze(2)), -1)
    return tags, final + shift.unsqueeze(1)
