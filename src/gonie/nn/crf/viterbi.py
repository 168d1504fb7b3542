"""Viterbi decoding: the scan with max in place of log-sum-exp, then backtracking."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import moves_of
from gonie.nn.precision import full_precision


@torch.no_grad()
@full_precision
def viterbi(
    emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return argmax and max over paths of the path score (Viterbi 1967).

    best[t, j] = e[t, j] + maxi (best[t-1, i] + A[i, j]). Rows that have ended continue into their padding,
    where backtracking keeps the tag. Ties are broken arbitrarily.

    Shape: ``emissions`` (B, T, K), ``mask`` (B, T), ``edges`` (B, T-1, K, K), unchecked -> tags (B, T), -1
    past a row's end, scores (B,). Values at padding are ignored.
    """
    scores = emissions.to(chain.transitions.dtype).permute(1, 2, 0).contiguous()  # (T, K, B)
    moves = moves_of(chain.transitions, mask, edges)
    best, choices, shifts = _scan(scores, moves, chain.start)  # (T, K, B), (T-1, K, B), (T, B)
    ends = (mask.sum(1) - 1).expand(1, *best.shape[1:])  # (1, K, B)
    score, last = (best.gather(0, ends).squeeze(0) + chain.end.unsqueeze(1)).max(0)  # (B,) each
    stay = torch.arange(best.shape[1], device=best.device).view(1, -1, 1)  # (1, K, 1)
    choices = choices.where(mask.t()[1:].unsqueeze(1), stay)
    tags = _walk_back(choices, last).t().masked_fill(~mask, -1)
    return tags, score + shifts.where(mask.t(), 0.0).sum(0)


def _scan(scores: Tensor, moves: Tensor, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best scores (T, K, B), the previous tags (T-1, K, B) and the shifts (T, B).

    The score and the previous tag are those of the best path to each tag. Each step is shifted to a largest
    value of 0, so that a long sentence loses no precision.
    """
    T, K, B = scores.shape
    best = scores.clone()
    best[0].add_(start.unsqueeze(1))
    choices = torch.empty(T - 1, K, B, dtype=torch.int64, device=scores.device)
    shifts = torch.zeros_like(scores[:, 0])
    every_move = moves.unbind(0) if len(moves) == T - 1 else moves.unbind(0) * (T - 1)
    lowest = torch.finfo(scores.dtype).min
    steps = best.unbind(0)
    for before, here, choice, shift, move in zip(
        steps, steps[1:], choices.unbind(0), shifts.unbind(0)[1:], every_move, strict=False
    ):
        value, tag = (before.unsqueeze(1) + move).max(0)  # (K, B) each
        here.add_(value)
        here.sub_(torch.amax(here, dim=0, out=shift).clamp_(min=lowest))
        choice.copy_(tag)
    return best, choices, shifts


def _walk_back(choices: Tensor, last: Tensor) -> Tensor:
    """Follow the choices from the last tags. Shape: (T-1, K, B), (B,) -> (T, B)."""
    path = last.new_empty(choices.shape[0] + 1, last.shape[0])
    path[-1] = last
    steps = path.unsqueeze(1).unbind(0)  # (1, B) each
    for t in range(len(steps) - 2, -1, -1):
        torch.gather(choices[t], 0, steps[t + 1], out=steps[t])
    return path
