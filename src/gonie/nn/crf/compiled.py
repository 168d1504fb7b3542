"""The linear chain on a CPU, by compiled loops over sixteen rows at a time.

The loops use probabilities instead of log-probabilities (Rabiner 1989, §V.A), so that a token takes K
exponentials and 3 K² products, not 2 K² exponentials. With E = exp(A - max A), x[t] = exp(e[t] - max e[t]):

    ahead[0] ∝ exp(s) ∘ x[0]        ahead[t] ∝ x[t] ∘ (ahead[t-1] E)
    back[last] ∝ exp(z)             back[t]  ∝ E (x[t+1] ∘ back[t+1])

Each ``ahead`` is scaled to a sum of 1, so that log Z is the sum of the logarithms of the scales. Each
``back`` is scaled so that ahead[t] · back[t] = 1. Then p(yt = j) = ahead[t, j] back[t, j], and the expected
moves to t are E ∘ (ahead[t-1] ⊗ arriving[t]), with arriving[t] = x[t] ∘ back[t] in the scale of back[t-1].

Numerical limits: single factors below ``tiny`` = 1e-38 in float32 underflow. As all other factors are at most
1, a lost path is worth at most ``tiny`` compared with sums of the kept ones. The loops monitor these sums:
every scale, and ahead[t] · back[t] against the sum of back[t]. If one falls below ``least`` = 1e-15, the
scores are so far apart that a lost path might matter (by about 35 at one token, or with a constraint that
ends all likely paths). Such a row is *hard*, and ``scan`` computes it in log space and float64. Otherwise the
error is below K tiny / least² = K 1e-8 of the result.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from gonie.nn.compiled import run_in_parallel
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.loops import (
    BLOCK,
    Factors,
    LoopBatch,
    LoopResult,
    Share,
    Tables,
    decode,
    find_fault,
    run_ahead,
    run_back,
)
from gonie.nn.crf.path_score import log_likelihood as exact_likelihood
from gonie.nn.crf.scan import log_partition as exact_partition
from gonie.nn.simd import LANES

WORK_A_THREAD = 1 << 21
"""Products that justify a separate thread."""
OVERHEAD = 16
"""Cost of a tag of a token besides its moves, in products."""
LEAST = {np.dtype(np.float32): 1e-15, np.dtype(np.float64): 1e-120}


def fits(mask: Tensor, tags: Tensor | None, num_tags: int) -> bool:
    """Return whether the mask (B, T) is right-padded without an empty row, and every token's tag exists."""
    return not find_fault(_array(mask), _paths(tags), num_tags)


def log_partition(emissions: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """Return log Z of each row, differentiable once. The mask is not checked.

    Shape: (B, T, K), (B, T) -> (B,).
    """
    emissions = emissions.to(chain.transitions.dtype)
    return _LogLikelihood.apply(emissions, None, mask, *chain)  # type: ignore[no-any-return, no-untyped-call]


def log_likelihood(emissions: Tensor, tags: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """Return log p(y | e) of each row, differentiable once. Inputs are not checked.

    Shape: (B, T, K), (B, T), (B, T) -> (B,).
    """
    emissions = emissions.to(chain.transitions.dtype)
    return _LogLikelihood.apply(emissions, tags, mask, *chain)  # type: ignore[no-any-return, no-untyped-call]


@torch.no_grad()
def marginals(emissions: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """Return p(yt = j), 0 past a row's end, without gradient. Shape: (B, T, K), (B, T) -> (B, T, K)."""
    emissions = emissions.to(chain.transitions.dtype)
    weights = torch.ones(len(emissions), dtype=emissions.dtype)
    return _run_back(weights, _LoopTask.of(emissions, None, mask, chain))[0]


@torch.no_grad()
def viterbi(emissions: Tensor, mask: Tensor, chain: Chain) -> tuple[Tensor, Tensor]:
    """Return the best tags (B, T), -1 past a row's end, and their scores (B,). Inputs are not checked.

    Ties between paths go to the lowest last tag, then the lowest tag before it, and so on.
    """
    batch = _batch(emissions.to(chain.transitions.dtype), None, mask)
    B, T, _ = batch.emissions.shape
    tags, scores = np.full((B, T), -1), np.empty(B, batch.emissions.dtype)
    tables = _tables(chain)
    run_in_parallel(partial(decode, batch, share, tables, tags, scores) for share in _shares(batch))
    return torch.from_numpy(tags), torch.from_numpy(scores)


class _LogLikelihood(torch.autograd.Function):
    """log Z, or with tags their score minus log Z."""

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, tags: Tensor | None, mask: Tensor, *chain: Tensor) -> Tensor:
        ctx.task = _LoopTask.of(emissions.detach(), tags, mask, Chain(*(part.detach() for part in chain)))
        ctx.save_for_backward(emissions, tags, mask)
        return _run_ahead(ctx.task)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        _ = ctx.saved_tensors  # raises if they were modified: the task's arrays share their memory
        unary, *tables = _run_back(grads[0], ctx.task)
        return unary, None, None, *tables


class _LoopTask(NamedTuple):
    """The inputs of a computation, as torch tensors and as arrays for the loops."""

    emissions: Tensor
    tags: Tensor | None
    mask: Tensor
    chain: Chain
    batch: LoopBatch
    tables: Tables
    factors: Factors

    @classmethod
    def of(cls, emissions: Tensor, tags: Tensor | None, mask: Tensor, chain: Chain) -> _LoopTask:
        tables = _tables(chain)
        return cls(emissions, tags, mask, chain, _batch(emissions, tags, mask), tables, _factors(tables))

    def exactly(self, rows: Tensor, emissions: Tensor, chain: Chain) -> Tensor:
        """Return the values of hard rows, from their emissions and the chain in float64."""
        if self.tags is None:
            return exact_partition(emissions, self.mask[rows], chain)
        return exact_likelihood(emissions, self.tags[rows], self.mask[rows], chain)


def _run_ahead(task: _LoopTask) -> Tensor:
    """Return each row's value. Shape: (B,)."""
    batch, tables, factors = task.batch, task.tables, task.factors
    B = len(batch.order)
    out = LoopResult(np.empty(B, tables.start.dtype), np.zeros(B, np.bool_))
    run_in_parallel(partial(run_ahead, batch, share, tables, factors, out) for share in _shares(batch))
    result = torch.from_numpy(out.result)
    if out.hard.any():
        rows = torch.from_numpy(out.hard)
        exact = task.exactly(rows, task.emissions[rows].double(), Chain(*(p.double() for p in task.chain)))
        result[rows] = exact.to(result.dtype)
    return result


def _run_back(weights: Tensor, task: _LoopTask) -> tuple[Tensor, ...]:
    """Return gradients of emissions, transitions, start and end, each row's times its weight (B,)."""
    batch = task.batch
    out = LoopResult(np.zeros_like(batch.emissions), np.zeros(len(batch.order), np.bool_))
    shares = run_in_parallel(
        partial(run_back, batch, share, task.factors, _array(weights), out) for share in _shares(batch)
    )
    tables = (sum(parts[1:], parts[0]) for parts in zip(*shares, strict=True))
    gradients = [torch.from_numpy(array) for array in (out.result, *tables)]
    if out.hard.any():
        rows = torch.from_numpy(out.hard)
        with torch.enable_grad():
            inputs = [part.double().requires_grad_() for part in (task.emissions[rows], *task.chain)]
            value = task.exactly(rows, inputs[0], Chain(*inputs[1:]))
            again = torch.autograd.grad(value, inputs, weights[rows].double())
        gradients[0][rows] = again[0].to(gradients[0].dtype)
        for found, more in zip(gradients[1:], again[1:], strict=True):
            found.add_(more)
    return tuple(gradients)


def _batch(emissions: Tensor, tags: Tensor | None, mask: Tensor) -> LoopBatch:
    lengths = _array(mask).sum(1)
    order = np.argsort(-lengths, kind="stable")
    return LoopBatch(_array(emissions), _paths(tags), order, lengths[order])


def _paths(tags: Tensor | None) -> NDArray[np.int64]:
    return np.empty((0, 0), np.int64) if tags is None else _array(tags.long())


def _shares(batch: LoopBatch) -> list[Share]:
    """Divide the groups among as many threads as are worthwhile. Each thread gets long and short ones."""
    B, _, K = batch.emissions.shape
    groups = -(-B // LANES)
    work = int(batch.lengths.sum()) * K * (K + OVERHEAD)
    threads = max(1, min(torch.get_num_threads(), work // WORK_A_THREAD, groups))
    return [Share(first, threads) for first in range(threads)]


def _tables(chain: Chain) -> Tables:
    moves, start, end = (_array(part) for part in chain)
    K = len(start)
    R = -(-K // BLOCK) * BLOCK
    table, ends = np.full((R, R), -np.inf, moves.dtype), np.full((2, R), -np.inf, moves.dtype)
    table[:K, :K], ends[0, :K], ends[1, :K] = moves, start, end
    return Tables(table, table.T.copy(), ends[0], ends[1])


def _factors(tables: Tables) -> Factors:
    tops = [float(table.max()) for table in tables]
    tops = [top if np.isfinite(top) else 0.0 for top in tops]
    moves, transposed, start, end = (
        np.exp(table - table.dtype.type(top)) for table, top in zip(tables, tops, strict=True)
    )
    least = LEAST[moves.dtype]
    return Factors(moves, transposed, start, end, shift=tops[2] + tops[3], move_shift=tops[0], least=least)


def _array(tensor: Tensor) -> NDArray[Any]:
    found: NDArray[Any] = tensor.detach().contiguous().numpy()
    return found
