"""The forward-backward recursion of a linear chain over a batch, with its own gradient.

For emissions e, transitions A, start s and end z, a path y scores

    s[y0] + Σt e[t, yt] + Σt A[yt-1, yt] + z[ylast].

With ``edges``, A has its own value at each move: A + edges[t-1] from token t-1 to t, the general form
f(y[t-1], y[t], x, t). With the messages

    ahead[0, j] = s[j]        ahead[t, j] = log Σi exp(ahead[t-1, i] + e[t-1, i] + A[i, j])
    back[last, i] = z[i]      back[t, i]  = log Σj exp(A[i, j] + e[t+1, j] + back[t+1, j])

log Z = log Σj exp(ahead[t, j] + e[t, j] + back[t, j]) at any t. The gradient of log Z by e[t, j] is the
marginal p(yt = j), and by A[i, j] the expected number of moves from i to j (Lafferty et al. 2001).

Three things make it fast without a custom kernel. ``back`` is ``ahead`` on the sentence reversed within its
length with A transposed, so both run as one scan with three operations per step. Rows that have ended
continue into their padding, where the results are unused, so no step reads the mask. The reduction is over
the leading dimension with the batch innermost, the fastest layout on a CPU. All is in log space, so that no
score difference underflows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gonie.nn.crf.chain import Chain
from gonie.nn.precision import full_precision
from gonie.nn.reverse import reversal

PAIRS_AT_ONCE = 1 << 22
"""Maximum number of pair marginals in memory at a time."""


class Messages(NamedTuple):
    """Both messages with their emissions, time and tags first. Shape: (T, K, B), the last two (T, B).

    Each step's messages are shifted to a largest value of 0, so that a long sentence loses no precision. The
    shifts cancel out of every marginal.
    """

    emissions: Tensor
    """0 past a row's end."""
    ahead: Tensor
    back: Tensor
    """-inf past a row's end, so that anything computed from it there is 0."""
    shift: Tensor
    """The shift of ``ahead`` at each step."""
    total: Tensor
    """log Σj exp(ahead[t, j] + e[t, j] + back[t, j]): log Z without the shifts, different at each t."""


def log_partition(emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return log Z of each row, differentiable once. The mask is not checked.

    Shape: ``emissions`` (B, T, K), ``mask`` (B, T), ``edges`` (B, T-1, K, K) -> (B,).
    """
    emissions = emissions.to(chain.transitions.dtype)
    given = (emissions, *chain) if edges is None else (emissions, edges, *chain)
    if torch.is_grad_enabled() and any(x.requires_grad for x in given):
        return _LogPartition.apply(emissions, mask, edges, *chain)  # type: ignore[no-any-return, no-untyped-call]
    return _forward(emissions, mask, chain, edges)


@torch.no_grad()
def marginals(emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return p(yt = j), 0 past a row's end, without gradient. Shape: as ``log_partition`` -> (B, T, K)."""
    messages = forward_backward(emissions.to(chain.transitions.dtype), mask, chain, edges)
    return unary_marginals(messages).permute(2, 0, 1)


@torch.no_grad()
def pair_marginals(emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return p(yt = i, yt+1 = j), 0 past a row's last move, without gradient. Shape: -> (B, T-1, K, K)."""
    messages = forward_backward(emissions.to(chain.transitions.dtype), mask, chain, edges)
    return pairs_of(messages, moves_of(chain.transitions, mask, edges)).permute(3, 0, 1, 2)


@full_precision
def forward_backward(emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None) -> Messages:
    """Run both directions as one scan. Shape: ``emissions`` (B, T, K), ``mask`` (B, T)."""
    scores, padding = _time_first(emissions, mask), ~mask.t()  # (T, K, B), (T, B)
    order = reversal(mask).t().unsqueeze(1).expand_as(scores)  # (T, K, B)
    both_ways = torch.stack([scores, scores.gather(0, order)], dim=2)  # (T, K, 2, B)
    moves = moves_of(chain.transitions, mask, edges)  # (T-1 or 1, K, K, B or 1)
    back_moves = moves.transpose(1, 2)
    if edges is not None:  # reversed, the move from t to t+1 is that from last-t-1 to last-t
        back_order = reversal(mask[:, 1:]).t()[:, None, None].expand_as(moves)
        back_moves = back_moves.gather(0, back_order)
    messages, shifts = _scan(
        both_ways, torch.stack([moves, back_moves], dim=3), torch.stack([chain.start, chain.end], dim=1)
    )
    ahead, behind = messages.unbind(2)  # (T, K, B) each
    back = behind.gather(0, order).masked_fill_(padding.unsqueeze(1), -torch.inf)
    total = torch.logsumexp(ahead + scores + back, dim=1).masked_fill_(padding, 0.0)  # (T, B)
    return Messages(scores, ahead, back, shifts[:, 0], total)


def unary_marginals(messages: Messages) -> Tensor:
    """Return p(yt = j) = exp(ahead + e + back - total), 0 past a row's end. Shape: (T, K, B)."""
    scores, ahead, back, _, total = messages
    return (ahead + scores).add_(back).sub_(total.unsqueeze(1)).exp_()


def pair_counts(messages: Messages, transitions: Tensor, weights: Tensor) -> Tensor:
    """Return the expected number of moves i -> j, each row times its weight.

    Σb weights[b] Σt exp(ahead[t-1, i] + e[t-1, i] + A[i, j] + e[t, j] + back[t, j] - shift[t] - total[t]).
    Shape: ``transitions`` (K, K), ``weights`` (B,) -> (K, K). A large intermediate (T, K, K, B) is processed
    in pieces.
    """
    scores, ahead, back, shift, total = messages
    K, B = scores.shape[1:]
    left = (ahead + scores).unsqueeze(2)[:-1]  # (T-1, K, 1, B)
    right = (scores + back).sub_((shift + total).unsqueeze(1)).unsqueeze(1)[1:]  # (T-1, 1, K, B)
    counts = torch.zeros_like(transitions)
    steps = max(1, PAIRS_AT_ONCE // max(1, K * K * B))
    for before, after in zip(torch.split(left, steps), torch.split(right, steps), strict=True):
        moves = (before + after).add_(transitions.unsqueeze(2)).exp_()  # (steps, K, K, B)
        counts += (moves @ weights).sum(0)
    return counts


def pairs_of(messages: Messages, moves: Tensor) -> Tensor:
    """Return p(yt = i, yt+1 = j). Shape: ``moves`` (T-1 or 1, K, K, B or 1) -> (T-1, K, K, B)."""
    scores, ahead, back, shift, total = messages
    left = (ahead + scores).unsqueeze(2)[:-1]  # (T-1, K, 1, B)
    right = (scores + back).sub_((shift + total).unsqueeze(1)).unsqueeze(1)[1:]  # (T-1, 1, K, B)
    return (left + right).add_(moves).exp_()


def moves_of(transitions: Tensor, mask: Tensor, edges: Tensor | None) -> Tensor:
    """Return moves, time first. Shape: (K, K), (B, T), (B, T-1, K, K) -> (T-1, K, K, B) or (1, K, K, 1)."""
    if edges is None:
        return transitions[None, :, :, None]
    inside = edges.to(transitions.dtype).where(mask[:, 1:, None, None], 0.0)
    return inside.permute(1, 2, 3, 0) + transitions[None, :, :, None]


@full_precision
def _forward(emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None) -> Tensor:
    """Return log Z by the forward direction alone, for when no gradient is needed. Shape: (B,)."""
    scores = _time_first(emissions, mask).unsqueeze(2)  # (T, K, 1, B)
    moves = moves_of(chain.transitions, mask, edges).unsqueeze(3)
    ahead, shifts = _scan(scores, moves, chain.start.unsqueeze(1))
    last = _at_last((ahead + scores).squeeze(2), mask)  # (K, B)
    return torch.logsumexp(last + chain.end.unsqueeze(1), dim=0) + _sum(shifts[:, 0], mask)


def _log_z(messages: Messages, mask: Tensor) -> Tensor:
    """Return log Z, with the shifts added. Shape: (B,)."""
    return _at_last(messages.total, mask) + _sum(messages.shift, mask)


def _time_first(emissions: Tensor, mask: Tensor) -> Tensor:
    """Return emissions with 0 at padding. Shape: (B, T, K), (B, T) -> (T, K, B)."""
    return emissions.where(mask.unsqueeze(2), 0.0).permute(1, 2, 0).contiguous()


def _scan(scores: Tensor, moves: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
    """Return messages along time, in G directions at once, and the shifts that keep them near 0.

    m[0] = first;  m[t, j] = log Σi exp(m[t-1, i] + scores[t-1, i] + moves[t-1, i, j]) - shift[t].
    Shape: ``scores`` (T, K, G, B), ``moves`` (T-1 or 1, K, K, G, B or 1), ``first`` (K, G) -> (T, K, G, B),
    (T, G, B).
    """
    messages, shifts = torch.empty_like(scores), torch.zeros_like(scores[:, 0])
    steps = messages.unbind(0)
    steps[0].copy_(first.unsqueeze(2))
    lowest = torch.finfo(scores.dtype).min  # keeps -inf, and not nan, where nothing is possible
    every_move = moves.unbind(0) if len(moves) == len(scores) - 1 else moves.unbind(0) * (len(scores) - 1)
    for before, here, shift, score, move in zip(
        steps, steps[1:], shifts.unbind(0)[1:], scores.unbind(0), every_move, strict=False
    ):
        torch.logsumexp((before + score).unsqueeze(1) + move, dim=0, out=here)
        here.sub_(torch.amax(here, dim=0, out=shift).clamp_(min=lowest))
    return messages, shifts


def _at_last(values: Tensor, mask: Tensor) -> Tensor:
    """Return the values at each row's last token. Shape: (T, ..., B), (B, T) -> (..., B)."""
    last = (mask.sum(1) - 1).expand(1, *values.shape[1:])  # (1, ..., B)
    return values.gather(0, last).squeeze(0)


def _sum(values: Tensor, mask: Tensor) -> Tensor:
    """Sum over each row's tokens. Shape: (T, B), (B, T) -> (B,)."""
    return values.where(mask.t(), 0.0).sum(0)


class _LogPartition(torch.autograd.Function):
    """log Z with the marginals as its gradient, so that autograd records no steps."""

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, mask: Tensor, edges: Tensor | None, *chain: Tensor) -> Tensor:
        messages = forward_backward(emissions, mask, Chain(*chain), edges)
        ctx.save_for_backward(mask, edges, chain[0], *messages)
        return _log_z(messages, mask)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        mask, edges, transitions, *messages = ctx.saved_tensors
        return _gradients(grads[0], mask, edges, transitions, Messages(*messages))


@full_precision
def _gradients(
    grad: Tensor, mask: Tensor, edges: Tensor | None, transitions: Tensor, messages: Messages
) -> tuple[Tensor | None, ...]:
    """Return gradients of emissions, mask (None), edges, transitions, start and end from log Z's (B,)."""
    unary = unary_marginals(messages).mul_(grad)  # (T, K, B)
    ends = unary[0].sum(1), _at_last(unary, mask).sum(1)
    if edges is None:
        return unary.permute(2, 0, 1), None, None, pair_counts(messages, transitions, grad), *ends
    pairs = pairs_of(messages, moves_of(transitions, mask, edges)).mul_(grad)  # (T-1, K, K, B)
    return unary.permute(2, 0, 1), None, pairs.permute(3, 0, 1, 2), pairs.sum((0, 3)), *ends
