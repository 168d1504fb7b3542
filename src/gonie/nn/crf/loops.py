"""Compiled loops of the linear chain on a CPU: both recursions, the counts, and the best path.

A token of nine tags takes about 500 products, and each step needs the result of the previous one. A single
row would spend most of the time waiting for its sums. So sixteen rows run in parallel, one per lane of a
vector. They form a *group*. Rows are grouped by length, longest first, so that the rows of a step are the
first of its group. A lane whose row has ended computes unused values. ``compiled`` explains the method and
its limits.

Letters: B rows of T tokens; K tags, R when rounded up to whole blocks.
"""

from __future__ import annotations

from math import isnan, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.nn.compiled import compiled, exp_in_place, inlined
from gonie.nn.simd import LANES, larger, load, splat, store, total

Floats = NDArray[Any]
"""float32 or float64, the same for all arrays of a call."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BLOCK = 4
"""Tags whose sums are kept in registers together."""
STEPS_AT_ONCE = 32
"""Tokens whose moves are counted together: few enough to stay in the cache."""


class LoopBatch(NamedTuple):
    """The inputs of the loops."""

    emissions: Floats
    """(B, T, K)"""
    tags: Ints
    """(B, T), or (0, 0) if no path is given."""
    order: Ints
    """(B,) rows, longest first."""
    lengths: Ints
    """(B,) in that order."""


class Share(NamedTuple):
    """A thread's groups: every ``step``-th from ``first`` on."""

    first: int
    step: int


class Group(NamedTuple):
    """Rows that run in parallel, and buffers for their steps."""

    rows: Ints
    """(n,) longest first"""
    lengths: Ints
    """(n,)"""
    ahead: Floats
    """(T, R, lanes)"""
    x: Floats
    """(T, R, lanes)"""


class Tables(NamedTuple):
    """A chain's scores, -inf past K."""

    moves: Floats
    """(R, R), indexed [from, to]"""
    transposed: Floats
    """(R, R), indexed [to, from]"""
    start: Floats
    """(R,)"""
    end: Floats
    """(R,)"""


class LoopResult(NamedTuple):
    """The outputs of the loops."""

    result: Floats
    """The value of each row (B,), or the gradient of the emissions (B, T, K)."""
    hard: Bools
    """(B,): whether the row's scores are too far apart for these loops."""


class Factors(NamedTuple):
    """exp of the tables, each shifted to a largest value of 1."""

    moves: Floats
    """E (R, R), indexed [from, to]"""
    transposed: Floats
    """(R, R), indexed [to, from]"""
    start: Floats
    """(R,)"""
    end: Floats
    """(R,)"""
    shift: float
    """Sum of the shifts of start and end."""
    move_shift: float
    """Shift of each move."""
    least: float
    """Lower limit of sums."""


@compiled
def find_fault(mask: Bools, tags: Ints, num_tags: int) -> bool:
    """Return whether a row is empty, has a token after padding, or has a tag that does not exist."""
    B, T = mask.shape
    for b in range(B):
        fine = mask[b, 0]
        for t in range(1, T):
            fine &= mask[b, t] <= mask[b, t - 1]
        if tags.size:
            for t in range(T):
                fine &= not mask[b, t] or 0 <= tags[b, t] < num_tags
        if not fine:
            return True
    return False


@compiled
def run_ahead(batch: LoopBatch, share: Share, tables: Tables, factors: Factors, out: LoopResult) -> None:
    """Compute log Z of each row, or with tags log p(tags)."""
    e = batch.emissions
    ahead, x = _buffer(e, factors), _buffer(e, factors)
    for g in range(share.first, _groups(batch), share.step):
        group = _group(batch, g, ahead, x)
        log_z = _ahead(e, group, factors, out.hard)
        for lane in range(len(group.rows)):
            row = group.rows[lane]
            out.result[row] = log_z[lane]
            if batch.tags.size:
                path = batch.tags[row, : group.lengths[lane]]
                out.result[row] = _score(e[row], path, tables) - log_z[lane]


@compiled
def run_back(
    batch: LoopBatch, share: Share, factors: Factors, weights: Floats, out: LoopResult
) -> tuple[Floats, Floats, Floats]:
    """Return the gradients of transitions (K, K), start and end (K,), and write that of the emissions.

    Each row's gradient is multiplied by its weight (B,). Hard rows are left out. The forward pass is run
    again, because keeping its steps for all groups is slower, as newly allocated memory is.
    """
    e, kind = batch.emissions, batch.emissions.dtype
    K, R = e.shape[2], len(factors.start)
    expected, observed = np.zeros((R, R), kind), np.zeros((K, K), kind)
    start, end = np.zeros(K, kind), np.zeros(K, kind)
    ahead, x, arriving = _buffer(e, factors), _buffer(e, factors), _buffer(e, factors)
    sign = -1 if batch.tags.size else 1
    for g in range(share.first, _groups(batch), share.step):
        group = _group(batch, g, ahead, x)
        given = np.zeros(LANES, kind)
        for lane in range(len(group.rows)):
            given[lane] = sign * weights[group.rows[lane]]
        _ahead(e, group, factors, out.hard)
        _back(group, factors, given, arriving, out)
        _count(ahead, arriving, group.lengths[0], expected)
        for lane in range(len(group.rows)):
            row, last = group.rows[lane], group.lengths[lane] - 1
            if out.hard[row]:
                continue
            unary = out.result[row]
            if batch.tags.size:
                _observe(batch.tags[row, : last + 1], weights[row], unary, observed)
            for j in range(K):
                start[j] += unary[0, j]
                end[j] += unary[last, j]
    for i in range(K):
        for j in range(K):
            observed[i, j] += expected[i, j] * factors.moves[i, j]
    return observed, start, end


@compiled
def decode(batch: LoopBatch, share: Share, tables: Tables, tags: Ints, scores: Floats) -> None:
    """Viterbi: best[t, j] = e[t, j] + maxi (best[t-1, i] + A[i, j]), each t shifted to a largest of 0.

    Backtracking computes each choice again by K sums, which is cheaper than storing all K² going forward.
    """
    e = batch.emissions
    best = _buffer(e, tables)
    for g in range(share.first, _groups(batch), share.step):
        group = _group(batch, g, best, best)
        rows, lengths = group.rows, group.lengths
        shifts = _best(e, group, tables)
        for lane in range(len(rows)):
            last = lengths[lane] - 1
            tag = _choose(best[last], lane, tables.end)
            scores[rows[lane]] = shifts[lane] + best[last, tag, lane] + tables.end[tag]
            for t in range(last, -1, -1):
                tags[rows[lane], t] = tag
                if t > 0:
                    tag = _choose(best[t - 1], lane, tables.transposed[tag])


@inlined
def _buffer(e: Floats, tables: Any) -> Floats:
    """Allocate a buffer for a group's steps. Shape: (T, R, lanes)."""
    return np.empty((e.shape[1], len(tables.start), LANES), e.dtype)


@inlined
def _groups(batch: LoopBatch) -> int:
    return -(-len(batch.order) // LANES)


@inlined
def _group(batch: LoopBatch, number: int, ahead: Floats, x: Floats) -> Group:
    first, end = number * LANES, min((number + 1) * LANES, len(batch.order))
    return Group(batch.order[first:end], batch.lengths[first:end], ahead, x)


@inlined
def _active_rows(lengths: Ints, t: int) -> int:
    """Return how many rows have a token t."""
    going = len(lengths)
    while lengths[going - 1] <= t:
        going -= 1
    return going


@compiled
def _gather(e: Floats, rows: Ints, t: int, out: Floats) -> None:
    """Copy token t of each row into its lane of ``out`` (R, lanes), 0 where there is none."""
    K = e.shape[2]
    if len(rows) < LANES or len(out) > K:
        out[:] = 0.0
    for lane in range(len(rows)):
        row = e[rows[lane], t]
        for j in range(K):
            out[j, lane] = row[j]


@compiled
def _best(e: Floats, group: Group, tables: Tables) -> Floats:
    """Compute a group's best scores into ``ahead``. Return the shift of each lane (lanes,)."""
    best, R, kind = group.ahead, len(tables.start), e.dtype
    tops, shifts, nothing = np.empty(LANES, kind), np.zeros(LANES), splat(kind.type(-1e30))
    for t in range(group.lengths[0]):
        here = best[t]
        going = _active_rows(group.lengths, t)
        _gather(e, group.rows[:going], t, here)
        if t == 0:
            for j in range(R):
                store(here[j], load(here[j]) + splat(tables.start[j]))
        else:
            for j in range(0, R, BLOCK):
                _add_best_moves(best[t - 1], tables.transposed, j, here)
        top = nothing
        for j in range(R):
            top = larger(load(here[j]), top)
        for j in range(R):
            store(here[j], load(here[j]) - top)
        store(tops, top)
        for lane in range(going):
            shifts[lane] += tops[lane]
    return shifts


@compiled
def _ahead(e: Floats, group: Group, factors: Factors, hard: Bools) -> Floats:
    """Run a group's forward pass into ``ahead`` and ``x``. Return log Z (lanes,), 0 for hard rows."""
    ahead, lengths, kind = group.ahead, group.lengths, e.dtype
    log_z, scales = np.zeros(LANES), np.ones(LANES)
    tops, totals, least = np.empty(LANES, kind), np.empty(LANES, kind), np.full(LANES, kind.type(1))
    for t in range(lengths[0]):
        going = _active_rows(lengths, t)
        _exponentiate(e, group.rows[:going], t, group.x[t], tops)
        _step_ahead(group, t, factors, totals)
        ahead[t][:, going:] = 0.0  # rows that have ended, and unused lanes, count nothing
        for lane in range(going):
            log_z[lane] += tops[lane]
            scales[lane] *= totals[lane]
            least[lane] = totals[lane] if totals[lane] < least[lane] else least[lane]
            if not 1e-150 < scales[lane] < 1e150:  # take a logarithm only near the limits of float64
                log_z[lane] += log(scales[lane])
                scales[lane] = 1.0
    for lane in range(len(lengths)):
        last = lengths[lane] - 1
        ending = _ending(ahead[last], lane, factors)
        log_z[lane] += factors.shift + last * factors.move_shift + log(scales[lane]) + log(ending)
        if not (least[lane] >= factors.least and ending >= factors.least) or isnan(log_z[lane]):
            hard[group.rows[lane]] = True
            log_z[lane] = 0.0
            ahead[: lengths[0], :, lane] = 0.0
            group.x[: lengths[0], :, lane] = 0.0
    return log_z


@inlined
def _exponentiate(e: Floats, rows: Ints, t: int, out: Floats, tops: Floats) -> None:
    """Write exp(e[t] - top) of each row into its lane of ``out`` (R, lanes), and each lane's top to ``tops``.

    The top is the lane's largest value.
    """
    K = e.shape[2]
    _gather(e, rows, t, out)
    top = load(out[0])
    for j in range(1, K):
        top = larger(load(out[j]), top)
    for j in range(K):
        store(out[j], load(out[j]) - top)
    exp_in_place(out[:K].ravel())
    store(tops, top)


@inlined
def _step_ahead(group: Group, t: int, factors: Factors, totals: Floats) -> None:
    """Compute ahead[t] = x[t] ∘ (ahead[t-1] E), scaled to a sum of 1. ``totals`` (lanes,) gets the sums."""
    here, there, R = group.ahead[t], group.x[t], len(factors.start)
    if t == 0:
        for j in range(R):
            store(here[j], splat(factors.start[j]))
    else:
        for j in range(0, R, BLOCK):
            _sums(group.ahead[t - 1], factors.transposed, j, here)
    store(here[0], load(here[0]) * load(there[0]))
    sums = load(here[0])
    for j in range(1, R):
        product = load(here[j]) * load(there[j])
        store(here[j], product)
        sums = sums + product
    scale = splat(here.dtype.type(1)) / sums
    for j in range(R):
        store(here[j], load(here[j]) * scale)
    store(totals, sums)


@compiled
def _back(group: Group, factors: Factors, weights: Floats, arriving: Floats, out: LoopResult) -> None:
    """Run a group's backward pass, scaled so that Σj ahead[t, j] back[t, j] = 1.

    Results are multiplied by the weights (lanes,). The pass writes the marginals, and ``arriving``
    (T, R, lanes), from which the moves to t are computed. ``arriving`` is 0 where no row moves and in hard
    rows. In hard rows ``ahead`` is set to 0 too.
    """
    rows, lengths, ahead, x = group
    K, R, kind = out.result.shape[2], len(factors.start), ahead.dtype
    back, p = np.zeros((R, LANES), kind), np.empty((R, LANES), kind)
    sums = np.empty((2, LANES), kind)
    before = 0
    for t in range(lengths[0] - 1, -1, -1):
        going = _active_rows(lengths, t)
        for lane in range(before, going):  # rows that end at t
            ending = _ending(ahead[t], lane, factors)
            for j in range(R):
                back[j, lane] = factors.end[j] / ending if ending > 0 else kind.type(0)
        before = going
        for j in range(R):
            store(p[j], load(ahead[t][j]) * load(back[j]) * load(weights))
        for lane in range(going):
            row = out.result[rows[lane], t]
            for j in range(K):
                row[j] = p[j, lane]
        if t > 0:
            for j in range(R):
                store(arriving[t][j], load(x[t][j]) * load(back[j]))
            _step_back(ahead[t - 1], factors, weights, arriving[t], back, sums)
            arriving[t][:, going:] = 0.0
            for lane in range(going):
                enough = sums[0, lane] >= factors.least and sums[0, lane] >= factors.least * sums[1, lane]
                out.hard[rows[lane]] |= not enough
    for lane in range(len(rows)):
        if out.hard[rows[lane]]:
            arriving[: lengths[0], :, lane] = 0.0
            ahead[: lengths[0], :, lane] = 0.0


@inlined
def _step_back(
    before: Floats, factors: Factors, weights: Floats, arriving: Floats, back: Floats, sums: Floats
) -> None:
    """Compute back[t-1] = E arriving in the scale of ``before``, which is ahead[t-1], and scale ``arriving``.

    ``sums`` (2, lanes) gets the divisor, and Σj back[t-1, j] before the division.
    """
    R, kind = len(factors.start), back.dtype
    for j in range(0, R, BLOCK):
        _sums(arriving, factors.moves, j, back)
    reached = all_back = splat(kind.type(0))
    for j in range(R):
        reached = reached + load(before[j]) * load(back[j])
        all_back = all_back + load(back[j])
    scale = splat(kind.type(1)) / reached
    scaled = scale * load(weights)
    for j in range(R):
        store(arriving[j], load(arriving[j]) * scaled)
        store(back[j], load(back[j]) * scale)
    store(sums[0], reached)
    store(sums[1], all_back)


@inlined
def _ending(ahead: Floats, lane: int, factors: Factors) -> Any:
    """Return Σj ahead[j] exp(z[j]) of a lane."""
    ending = ahead[0, lane] * factors.end[0]
    for j in range(1, len(factors.end)):
        ending += ahead[j, lane] * factors.end[j]
    return ending


@compiled
def _count(ahead: Floats, arriving: Floats, length: int, counts: Floats) -> None:
    """counts[i, j] += Σt Σlane ahead[t-1, i] arriving[t, j]. Shape: (T, R, lanes) twice -> (R, R)."""
    R, kind = len(counts), counts.dtype
    for first in range(1, length, STEPS_AT_ONCE):
        end = min(length, first + STEPS_AT_ONCE)
        for i in range(0, R, 2):
            for j in range(0, R, BLOCK):
                a = b = c = d = p = q = r = s = splat(kind.type(0))
                for t in range(first, end):
                    one, other = load(ahead[t - 1][i]), load(ahead[t - 1][i + 1])
                    u, v, w, y = (
                        load(arriving[t][j]),
                        load(arriving[t][j + 1]),
                        load(arriving[t][j + 2]),
                        load(arriving[t][j + 3]),
                    )
                    a, b, c, d = a + one * u, b + one * v, c + one * w, d + one * y
                    p, q, r, s = p + other * u, q + other * v, r + other * w, s + other * y
                counts[i, j] += total(a)
                counts[i, j + 1] += total(b)
                counts[i, j + 2] += total(c)
                counts[i, j + 3] += total(d)
                counts[i + 1, j] += total(p)
                counts[i + 1, j + 1] += total(q)
                counts[i + 1, j + 2] += total(r)
                counts[i + 1, j + 3] += total(s)


@inlined
def _sums(rows: Floats, table: Floats, j: int, out: Floats) -> None:
    """out[j] = Σi table[j, i] rows[i] for a block of j. Shape: (R, lanes), (R, R) -> (R, lanes)."""
    row = load(rows[0])
    a, b = splat(table[j, 0]) * row, splat(table[j + 1, 0]) * row
    c, d = splat(table[j + 2, 0]) * row, splat(table[j + 3, 0]) * row
    for i in range(1, len(table)):
        row = load(rows[i])
        a = a + splat(table[j, i]) * row
        b = b + splat(table[j + 1, i]) * row
        c = c + splat(table[j + 2, i]) * row
        d = d + splat(table[j + 3, i]) * row
    store(out[j], a)
    store(out[j + 1], b)
    store(out[j + 2], c)
    store(out[j + 3], d)


@inlined
def _add_best_moves(rows: Floats, table: Floats, j: int, out: Floats) -> None:
    """out[j] += maxi (rows[i] + table[j, i]) for a block of j. Shape: (R, lanes), (R, R) -> (R, lanes)."""
    row = load(rows[0])
    a, b = row + splat(table[j, 0]), row + splat(table[j + 1, 0])
    c, d = row + splat(table[j + 2, 0]), row + splat(table[j + 3, 0])
    for i in range(1, len(table)):
        row = load(rows[i])
        a = larger(row + splat(table[j, i]), a)
        b = larger(row + splat(table[j + 1, i]), b)
        c = larger(row + splat(table[j + 2, i]), c)
        d = larger(row + splat(table[j + 3, i]), d)
    store(out[j], load(out[j]) + a)
    store(out[j + 1], load(out[j + 1]) + b)
    store(out[j + 2], load(out[j + 2]) + c)
    store(out[j + 3], load(out[j + 3]) + d)


@inlined
def _choose(best: Floats, lane: int, moves: Floats) -> int:
    """Return the first i with the largest best[i] + moves[i] of a lane. Shape: (R, lanes), (R,)."""
    choice, top = 0, best[0, lane] + moves[0]
    for i in range(1, len(moves)):
        value = best[i, lane] + moves[i]
        choice = i if value > top else choice
        top = value if value > top else top
    return choice


@inlined
def _score(e: Floats, path: Ints, tables: Tables) -> Any:
    """Return a path's score. Shape: (T, K), (L,)."""
    last = len(path) - 1
    score = np.float64(tables.start[path[0]]) + tables.end[path[last]]
    for t in range(last + 1):
        score += e[t, path[t]]
    for t in range(last):
        score += tables.moves[path[t], path[t + 1]]
    return score


@inlined
def _observe(path: Ints, weight: Any, unary: Floats, moves: Floats) -> None:
    """Add a path's counts. Shape: (L,) -> (T, K), (K, K)."""
    for t in range(len(path)):
        unary[t, path[t]] += weight
        if t > 0:
            moves[path[t - 1], path[t]] += weight
