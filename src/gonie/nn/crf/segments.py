"""Probability that given tokens have given tags, such as an entity, whatever the other tags are."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import forward_backward, moves_of
from gonie.nn.precision import full_precision


@torch.no_grad()
@full_precision
def segment_probabilities(
    emissions: Tensor,
    mask: Tensor,
    chain: Chain,
    *,
    rows: Tensor,
    starts: Tensor,
    tags: Tensor,
    edges: Tensor | None = None,
) -> Tensor:
    """Return p(y[start] … = tags) for N segments, with one forward-backward pass for all of them.

    The probability combines ahead to the first token, the segment's own path, and back from the last one. In
    BIOES these are the probabilities of entities: ``B-X I-X E-X`` is always one entity of type X on exactly
    its tokens. In IOB2 an entity ends where no I-X follows: subtract the segment that is longer by one more
    I-X.

    Shape: ``rows`` (N,), ``starts`` (N,), ``tags`` (N, L), -1 past a segment's end -> (N,). Inputs are not
    checked.
    """
    messages = forward_backward(emissions.to(chain.transitions.dtype), mask, chain, edges)
    scores, ahead, back, shift, total = messages
    tags = tags[:, : len(scores)]
    inside = tags >= 0  # (N, L)
    path = tags.clamp(min=0)
    at = (starts.unsqueeze(1) + torch.arange(tags.shape[1], device=tags.device)).clamp(max=len(scores) - 1)
    row = rows.unsqueeze(1).expand_as(at)  # (N, L)
    moves = moves_of(chain.transitions, mask, edges)  # (T-1 or 1, K, K, B or 1)
    step = (at[:, 1:] - 1).clamp(min=0, max=moves.shape[0] - 1)
    column = row[:, 1:].clamp(max=moves.shape[3] - 1)
    onwards = moves[step, path[:, :-1], path[:, 1:], column] - shift[at[:, 1:], row[:, 1:]]  # (N, L-1)
    own = scores[at, path, row]  # (N, L)
    last = inside.sum(1, keepdim=True) - 1  # (N, 1)
    end_at, end_tag = at.gather(1, last).squeeze(1), path.gather(1, last).squeeze(1)
    log_p = (
        ahead[starts, path[:, 0], rows]
        + own.where(inside, 0.0).sum(1)
        + onwards.where(inside[:, 1:], 0.0).sum(1)
        + back[end_at, end_tag, rows]
        - total[end_at, rows]
    )
    return log_p.exp().clamp(max=1.0)
