"""The linear chain on a CPU: each row's forward-backward recursion as one compiled loop.

It works with probabilities instead of their logarithms (Rabiner 1989, §V.A), so that a token takes K
exponentials and 3 K² products, not 2 K² exponentials. With E = exp(A - max A), x[t] = exp(e[t] - max e[t]):

    ahead[0] ∝ exp(s) ∘ x[0]        ahead[t] ∝ x[t] ∘ (ahead[t-1] E)
    back[last] ∝ exp(z)             back[t]  ∝ E (x[t+1] ∘ back[t+1])

each scaled to a sum of 1, and log Z is the sum of the scales' logarithms. The gradient needs no second
recursion: p(yt = j) = ahead[t, j] back[t, j] / Σ, and the expected moves are E ∘ Σt ahead[t-1] ⊗ share[t],
with share[t] = x[t] ∘ back[t] / Σ: one matrix product over all tokens of the batch. share is 0 at a row's
first token, so that rows may lie one behind the other and still not be mixed.

When it may be used. What the format cannot hold is lost: single factors below ``tiny`` = 1e-38 in float32.
As all other factors are at most 1, no lost path is worth more than ``tiny`` against sums of the kept ones,
and the loop watches those: every scale, and Σj ahead[t, j] back[t, j] at every token. Where one falls below
``least`` = 1e-15, scores lie so far apart that a lost path might matter (some 35 at one token, or a
constraint that ends all likely paths), and the row is done over by ``scan``, in log space and float64.
Otherwise what was lost is below K tiny / least² = K 1e-8 of the result.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import isnan, log, nan
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from gonie.nn.compiled import LANES, compiled, exp_in_place, inlined, side_by_side
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.gold import log_likelihood as exact_likelihood
from gonie.nn.crf.scan import log_partition as exact_partition
from gonie.nn.crf.scan import marginals as exact_marginals

Floats = NDArray[Any]
"""float32 or float64, all of a call the same."""
Ints = NDArray[np.int64]

WORK_A_THREAD = 1 << 19
"""Products that are worth a thread of their own."""
OVERHEAD = 16
"""What a tag of a token costs besides its moves, in products."""
LEAST = {np.dtype(np.float32): 1e-15, np.dtype(np.float64): 1e-120}


class Tables(NamedTuple):
    """A chain's scores as arrays."""

    transitions: Floats
    start: Floats
    end: Floats


class Factors(NamedTuple):
    """exp of the scores, each table shifted to a largest value of 1. W is K in whole lanes; 0 past K."""

    moves: Floats
    """E (W, W)"""
    back: Floats
    """E transposed (W, W)"""
    start: Floats
    """(W,)"""
    end: Floats
    """(W,)"""
    shift: float
    """What was taken from start and end together."""
    move_shift: float
    """What was taken from each move."""
    least: float


class Messages(NamedTuple):
    """What the gradient of a batch is made of; 0 past a row's end, and all 0 in a hard row."""

    log_z: Floats
    """(B,)"""
    ahead: Floats
    """(B, T, K)"""
    share: Floats
    """(B, T, K): 0 at a row's first token."""
    marginals: Floats
    """(B, T, K)"""
    hard: NDArray[np.bool_]
    """(B,): whether the row's scores lie too far apart."""


def log_partition(emissions: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """log Z of each row, differentiable once. Shape: (B, T, K), (B, T) -> (B,). The mask is not checked."""
    emissions = emissions.to(chain.transitions.dtype)
    value, hard = _Sums.apply(emissions, None, mask, *chain)  # type: ignore[no-untyped-call]
    if hard.any():
        again = exact_partition(emissions[hard].double(), mask[hard], _double(chain))
        value = value.masked_scatter(hard, again.to(value.dtype))
    return value  # type: ignore[no-any-return]


def log_likelihood(emissions: Tensor, tags: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """log p(y | e) of each row, differentiable once. Shape: (B, T, K), (B, T), (B, T) -> (B,). Unchecked."""
    emissions = emissions.to(chain.transitions.dtype)
    value, hard = _Sums.apply(emissions, tags, mask, *chain)  # type: ignore[no-untyped-call]
    if hard.any():
        again = exact_likelihood(emissions[hard].double(), tags[hard], mask[hard], _double(chain))
        value = value.masked_scatter(hard, again.to(value.dtype))
    return value  # type: ignore[no-any-return]


@torch.no_grad()
def marginals(emissions: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """p(yt = j), 0 past a row's end; carries no gradient. Shape: (B, T, K), (B, T) -> (B, T, K)."""
    emissions = emissions.to(chain.transitions.dtype)
    messages = _messages(_array(emissions), _lengths(mask), _factors(chain))
    result, hard = torch.from_numpy(messages.marginals), torch.from_numpy(messages.hard)
    if hard.any():
        result[hard] = exact_marginals(emissions[hard].double(), mask[hard], _double(chain)).to(result.dtype)
    return result


@torch.no_grad()
def viterbi(emissions: Tensor, mask: Tensor, chain: Chain) -> tuple[Tensor, Tensor]:
    """The best tags (B, T), -1 past a row's end, and their scores (B,). Unchecked.

    Among equally good paths it takes that whose last tag comes first, then the one before it, and so on.
    """
    e, lengths = _array(emissions.to(chain.transitions.dtype)), _lengths(mask)
    B, T, K = e.shape
    tags, scores = np.full((B, T), -1), np.empty(B, e.dtype)
    tables = Tables(*(_in_lanes(_array(part), -np.inf) for part in chain))
    side_by_side(
        partial(_decode, e[rows], lengths[rows], tables, tags[rows], scores[rows])
        for rows in _dealt(B, T * K * K)
    )
    return torch.from_numpy(tags), torch.from_numpy(scores)


class _Sums(torch.autograd.Function):
    """log Z, or where tags are given their score minus log Z; and which rows are too hard for it."""

    @staticmethod
    def forward(
        ctx: Any, emissions: Tensor, tags: Tensor | None, mask: Tensor, *chain: Tensor
    ) -> tuple[Tensor, Tensor]:
        e, lengths, factors = _array(emissions), _lengths(mask), _factors(Chain(*chain))
        messages = _messages(e, lengths, factors)
        paths = np.empty((0, 0), np.int64) if tags is None else _array(tags)
        value = messages.log_z
        if tags is not None:
            value = _score(e, paths, lengths, Tables(*(_array(part) for part in chain))) - value
        hard = torch.from_numpy(messages.hard)
        ctx.saved = messages, paths, lengths, factors.moves
        ctx.mark_non_differentiable(hard)
        return torch.from_numpy(value), hard

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        messages, paths, lengths, moves = ctx.saved
        unary, tables = _differentiate(_array(grads[0]), messages, paths, lengths, moves)
        return torch.from_numpy(unary), None, None, *(torch.from_numpy(table) for table in tables)


def _array(tensor: Tensor) -> NDArray[Any]:
    found: NDArray[Any] = tensor.detach().contiguous().numpy()
    return found


def _lengths(mask: Tensor) -> Ints:
    return _array(mask.sum(1))


def _double(chain: Chain) -> Chain:
    return Chain(*(part.double() for part in chain))


def _in_lanes(table: Floats, filling: float) -> Floats:
    """A table whose last dimension is whole lanes. Shape: (..., K) -> (..., W)."""
    width = -(-table.shape[-1] // LANES) * LANES
    result = np.full((*table.shape[:-1], width), filling, table.dtype)
    result[..., : table.shape[-1]] = table
    return result


def _factors(chain: Chain) -> Factors:
    tables = [_array(part) for part in chain]
    tops = [float(table.max()) for table in tables]
    tops = [top if np.isfinite(top) else 0.0 for top in tops]
    moves, start, end = (
        np.exp(table - table.dtype.type(top)) for table, top in zip(tables, tops, strict=True)
    )
    return Factors(
        moves=_in_lanes(_in_lanes(moves, 0.0).T, 0.0).T.copy(),
        back=_in_lanes(_in_lanes(moves, 0.0).T, 0.0),
        start=_in_lanes(start, 0.0),
        end=_in_lanes(end, 0.0),
        shift=tops[1] + tops[2],
        move_shift=tops[0],
        least=LEAST[moves.dtype],
    )


def _dealt(rows: int, work: int) -> list[slice]:
    """Rows of so much ``work`` each, for as many threads as they are worth."""
    threads = max(1, min(torch.get_num_threads(), rows * work // WORK_A_THREAD, rows))
    cuts = [rows * i // threads for i in range(threads + 1)]
    return [slice(*ends) for ends in pairwise(cuts)]


def _messages(e: Floats, lengths: Ints, factors: Factors) -> Messages:
    B, T, K = e.shape
    ahead, share, unary = (np.zeros(e.shape, e.dtype) for _ in range(3))
    result = Messages(np.zeros(B, e.dtype), ahead, share, unary, np.zeros(B, np.bool_))
    tops = _array(torch.from_numpy(e).amax(2))  # (B, T)
    side_by_side(
        partial(fill, e[rows], tops[rows], lengths[rows], factors, Messages(*(part[rows] for part in result)))
        for rows in _dealt(B, 3 * T * K * (K + OVERHEAD))
    )
    return result


@compiled
def fill(e: Floats, tops: Floats, lengths: Ints, factors: Factors, out: Messages) -> None:
    """Both directions for some rows of the batch; ``tops`` (B, T) are the largest emissions of each token."""
    T, W = e.shape[1], factors.moves.shape[1]
    ahead, x = np.empty((T, W), e.dtype), np.empty((T, W), e.dtype)
    for b in range(len(e)):
        L = lengths[b]
        log_z = _run_ahead(e[b, :L], tops[b], factors, ahead, x)
        if isnan(log_z) or not _run_back(factors, ahead[:L], x, out, b):
            out.hard[b] = True  # or not a number, which stays visible in log space
            out.ahead[b], out.share[b], out.marginals[b] = 0.0, 0.0, 0.0
        else:
            out.log_z[b] = log_z


@compiled
def _run_ahead(e: Floats, tops: Floats, factors: Factors, ahead: Floats, x: Floats) -> float:
    """Fills ``ahead`` and ``x`` (T, W) from one row's emissions (L, K); its log Z, or NaN if it is hard."""
    K, W = e.shape[1], len(factors.start)
    log_z = factors.shift + (len(e) - 1) * factors.move_shift
    scales = 1.0  # their product, in float64: a logarithm is taken only when it nears the ends of the format
    for t in range(len(e)):
        here, there = ahead[t], x[t]
        for j in range(K):
            there[j] = e[t, j] - tops[t]
        for j in range(K, W):
            there[j] = -np.inf
        exp_in_place(there)
        if t == 0:
            for j in range(W):
                here[j] = factors.start[j] * there[j]
        else:
            _product(ahead[t - 1], factors.moves, K, here)
            for j in range(W):
                here[j] *= there[j]
        total = _sum(here)
        if not total >= factors.least:
            return nan
        scale = 1 / total
        for j in range(W):
            here[j] *= scale
        log_z += tops[t]
        scales *= total
        if not 1e-150 < scales < 1e150:
            log_z += log(scales)
            scales = 1.0
    total = _inner(ahead[len(e) - 1], factors.end)
    return log_z + log(scales) + log(total) if total >= factors.least else nan


@compiled
def _run_back(factors: Factors, ahead: Floats, x: Floats, out: Messages, b: int) -> bool:
    """Fills the rest of row ``b`` from its ``ahead`` (L, W) and ``x``; False if the row is hard."""
    kept, share, marginals = out.ahead[b], out.share[b], out.marginals[b]
    K, W = share.shape[1], len(factors.start)
    back, product = factors.end.copy(), np.empty(W, ahead.dtype)
    total = _inner(ahead[len(ahead) - 1], back)
    for t in range(len(ahead) - 1, -1, -1):
        scale = 1 / total
        for j in range(K):
            kept[t, j] = ahead[t, j]
            marginals[t, j] = ahead[t, j] * back[j] * scale
        if t == 0:
            break
        for j in range(W):
            product[j] = x[t, j] * back[j]
        _product(product, factors.back, K, back)
        total, all_back = _inner(ahead[t - 1], back), _sum(back)
        if not (total >= factors.least * all_back and all_back >= factors.least):
            return False
        scale = 1 / total
        for j in range(K):
            share[t, j] = product[j] * scale
        scale = 1 / all_back
        total *= scale
        for j in range(W):
            back[j] *= scale
    return True


@inlined
def _sum(row: Floats) -> Any:
    """Σ of a row."""
    total = row[0]
    for j in range(1, len(row)):
        total += row[j]
    return total


@inlined
def _product(row: Floats, table: Floats, num_tags: int, out: Floats) -> None:
    """out = row @ table. Shape: (W,), (W, W) -> (W,).

    Four rows of the table at a time: a step that adds to ``out`` waits for the one before it.
    """
    for j in range(len(out)):
        out[j] = row[0] * table[0, j] + row[1] * table[1, j] + row[2] * table[2, j] + row[3] * table[3, j]
    for i in range(4, num_tags, 4):
        a, b, c, d = row[i], row[i + 1], row[i + 2], row[i + 3]
        for j in range(len(out)):
            out[j] += a * table[i, j] + b * table[i + 1, j] + c * table[i + 2, j] + d * table[i + 3, j]


@inlined
def _inner(left: Floats, right: Floats) -> Any:
    """Σ left ∘ right."""
    total = left[0] * right[0]
    for j in range(1, len(left)):
        total += left[j] * right[j]
    return total


@compiled
def _score(e: Floats, paths: Ints, lengths: Ints, chain: Tables) -> Floats:
    """The score of each row's path. Shape: (B, T, K), (B, T), (B,) -> (B,)."""
    result = np.empty(len(e), e.dtype)
    for b in range(len(e)):
        path, last = paths[b], lengths[b] - 1
        total = np.float64(chain.start[path[0]]) + chain.end[path[last]]
        for t in range(last + 1):
            total += e[b, t, path[t]]
        for t in range(last):
            total += chain.transitions[path[t], path[t + 1]]
        result[b] = total
    return result


def _differentiate(
    weights: Floats, messages: Messages, paths: Ints, lengths: Ints, moves: Floats
) -> tuple[Floats, list[Floats]]:
    """Gradients of emissions, and of transitions, start and end, each row times its weight (B,).

    Without paths those of log Z: expected counts. With paths (B, T) those of their likelihood: observed
    counts minus expected ones.
    """
    B, T, K = messages.marginals.shape
    unary = np.zeros_like(messages.marginals)
    found = side_by_side(
        partial(
            _count,
            weights[rows],
            Messages(*(part[rows] for part in messages)),
            paths[rows],
            lengths[rows],
            unary[rows],
        )
        for rows in _dealt(B, T * K * (K + OVERHEAD))
    )
    expected, observed, start, end = (sum(shares[1:], shares[0]) for shares in zip(*found, strict=True))
    return unary, [observed + expected * moves[:K, :K], start, end]


@compiled
def _count(
    weights: Floats, messages: Messages, paths: Ints, lengths: Ints, unary: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Some rows' share of the gradient; that of the emissions is put into ``unary``."""
    B, T, K = unary.shape
    sign = -1 if paths.size else 1
    share = messages.share.copy()
    observed = np.zeros((K, K), unary.dtype)
    start, end = np.zeros(K, unary.dtype), np.zeros(K, unary.dtype)
    for b in range(B):
        weight = sign * weights[b]
        for t in range(lengths[b]):
            for j in range(K):
                share[b, t, j] *= weight
                unary[b, t, j] = weight * messages.marginals[b, t, j]
        if paths.size:
            for t in range(lengths[b]):
                unary[b, t, paths[b, t]] += weights[b]
                if t > 0:
                    observed[paths[b, t - 1], paths[b, t]] += weights[b]
        for j in range(K):
            start[j] += unary[b, 0, j]
            end[j] += unary[b, lengths[b] - 1, j]
    ahead = messages.ahead.reshape(B * T, K)[:-1]
    return np.dot(ahead.T, share.reshape(B * T, K)[1:]), observed, start, end


@compiled
def _decode(e: Floats, lengths: Ints, chain: Tables, tags: Ints, scores: Floats) -> None:
    """Viterbi for some rows: best[t, j] = e[t, j] + maxi (best[t-1, i] + A[i, j]), each t shifted to 0."""
    T, K = e.shape[1:]
    W = chain.start.shape[0]
    best, further = np.empty(W, e.dtype), np.empty(W, e.dtype)
    choices = np.empty((T, W), np.int32)
    for b in range(len(e)):
        best[:] = chain.start
        total = 0.0
        for t in range(lengths[b]):
            if t > 0:
                choice = choices[t]
                further[:] = -np.inf
                choice[:] = 0
                for i in range(K):
                    for j in range(W):
                        value = best[i] + chain.transitions[i, j]
                        choice[j] = i if value > further[j] else choice[j]
                        further[j] = value if value > further[j] else further[j]
                best[:] = further
            for j in range(K):
                best[j] += e[b, t, j]
            top = best.max()
            if top > -np.inf:
                best -= top
                total += top
        best += chain.end
        tag = 0
        for j in range(1, K):
            tag = j if best[j] > best[tag] else tag
        scores[b] = total + best[tag]
        for t in range(lengths[b] - 1, -1, -1):
            tags[b, t] = tag
            if t > 0:
                tag = choices[t, tag]
