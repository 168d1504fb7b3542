"""The compiled loops of the linear chain on a CPU: both recursions, the counts, and the best path.

A token of nine tags is some 500 products, over before a processor has added up the first sum of the next
step, which needs its result. So sixteen rows run side by side, each in its lane of a vector: a *group*. Rows
are grouped by length, longest first, so that a step's rows are the first of its group; a lane whose row has
ended runs on over zeros that nobody reads. ``compiled`` says what is computed, and when it may be.

Letters: B rows of T tokens; K tags, R of them in whole blocks; G groups.
"""

from __future__ import annotations

from math import isnan, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.nn.compiled import compiled, exp_in_place, inlined
from gonie.nn.vector import LANES, larger, load, splat, store, total

Floats = NDArray[Any]
"""float32 or float64, all of a call the same."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BLOCK = 4
"""Tags whose sums are kept in registers together."""
STEPS_AT_ONCE = 32
"""Tokens whose moves are counted together: few enough to stay in the cache."""


class Batch(NamedTuple):
    """What is asked of the loops."""

    emissions: Floats
    """(B, T, K)"""
    tags: Ints
    """(B, T), or (0, 0) where no path is given."""
    order: Ints
    """(B,) rows, longest first."""
    lengths: Ints
    """(B,) in that order."""


class Share(NamedTuple):
    """A thread's groups: every ``step``-th from ``first`` on."""

    first: int
    step: int


class Tables(NamedTuple):
    """A chain's scores, -inf past K."""

    moves: Floats
    """(R, R), indexed [from, to]"""
    turned: Floats
    """(R, R), indexed [to, from]"""
    start: Floats
    """(R,)"""
    end: Floats
    """(R,)"""


class Factors(NamedTuple):
    """exp of the tables, each shifted to a largest value of 1."""

    moves: Floats
    """E (R, R), indexed [from, to]"""
    turned: Floats
    """(R, R), indexed [to, from]"""
    start: Floats
    """(R,)"""
    end: Floats
    """(R,)"""
    shift: float
    """What was taken from start and end together."""
    move_shift: float
    """What was taken from each move."""
    least: float
    """What sums may not fall below."""


class Trace(NamedTuple):
    """What the way back needs of the way ahead. Shape: (G, T, R, lanes)."""

    ahead: Floats
    x: Floats


@compiled
def find_fault(mask: Bools, tags: Ints, num_tags: int) -> bool:
    """Whether a row is empty, has a token after padding, or one whose tag does not exist."""
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
def run_ahead(
    batch: Batch, share: Share, tables: Tables, factors: Factors, trace: Trace, value: Floats, hard: Bools
) -> None:
    """Fills ``trace``, log Z or log p(tags) of each row into ``value`` (B,), and which rows are ``hard``."""
    for g in range(share.first, len(trace.ahead), share.step):
        rows, lengths = _rows(batch, g)
        log_z = _ahead(batch.emissions, rows, lengths, factors, trace.ahead[g], trace.x[g], hard)
        for lane in range(len(rows)):
            row = rows[lane]
            value[row] = log_z[lane]
            if batch.tags.size:
                path = batch.tags[row, : lengths[lane]]
                value[row] = _score(batch.emissions[row], path, tables) - log_z[lane]


@compiled
def run_back(
    batch: Batch,
    share: Share,
    factors: Factors,
    trace: Trace,
    weights: Floats,
    unary: Floats,
    hard: Bools,
) -> tuple[Floats, Floats, Floats]:
    """The gradient by transitions (K, K), start and end (K,); that by emissions is put into ``unary``.

    Each row's is multiplied by its weight (B,). Rows that are hard, or are found to be, are left out.
    """
    T, R = trace.ahead.shape[1:3]
    K = batch.emissions.shape[2]
    kind = trace.ahead.dtype
    expected, observed = np.zeros((R, R), kind), np.zeros((K, K), kind)
    start, end = np.zeros(K, kind), np.zeros(K, kind)
    arriving = np.empty((T, R, LANES), kind)
    for g in range(share.first, len(trace.ahead), share.step):
        rows, lengths = _rows(batch, g)
        sign = -1 if batch.tags.size else 1
        given = np.zeros(LANES, kind)
        for lane in range(len(rows)):
            given[lane] = sign * weights[rows[lane]]
        _back(rows, lengths, factors, trace.ahead[g], trace.x[g], given, arriving, unary, hard)
        _count(trace.ahead[g], arriving, lengths[0], expected)
        for lane in range(len(rows)):
            row, last = rows[lane], lengths[lane] - 1
            if hard[row]:
                continue
            if batch.tags.size:
                _observe(batch.tags[row, : last + 1], weights[row], unary[row], observed)
            for j in range(K):
                start[j] += unary[row, 0, j]
                end[j] += unary[row, last, j]
    for i in range(K):
        for j in range(K):
            observed[i, j] += expected[i, j] * factors.moves[i, j]
    return observed, start, end


@compiled
def decode(batch: Batch, share: Share, tables: Tables, tags: Ints, scores: Floats) -> None:
    """Viterbi: best[t, j] = e[t, j] + maxi (best[t-1, i] + A[i, j]), each t shifted to a largest of 0.

    The way back finds each choice again, by K sums, which is cheaper than to keep all K² on the way ahead.
    """
    e = batch.emissions
    R, kind = len(tables.start), e.dtype
    best = np.empty((e.shape[1], R, LANES), kind)
    tops, nothing = np.empty(LANES, kind), splat(kind.type(-1e30))
    for g in range(share.first, -(-len(batch.order) // LANES), share.step):
        rows, lengths = _rows(batch, g)
        scores_here = np.zeros(LANES)
        for t in range(lengths[0]):
            here = best[t]
            going = _going(lengths, t)
            _gather(e, rows[:going], t, kind.type(0), here)
            top = nothing
            for j in range(0, R, BLOCK):
                if t == 0:
                    for k in range(j, j + BLOCK):
                        store(here[k], load(here[k]) + splat(tables.start[k]))
                else:
                    _reach(best[t - 1], tables.turned, j, here)
                for k in range(j, j + BLOCK):
                    top = larger(load(here[k]), top)
            for j in range(R):
                store(here[j], load(here[j]) - top)
            store(tops, top)
            for lane in range(going):
                scores_here[lane] += tops[lane]
        for lane in range(len(rows)):
            last = lengths[lane] - 1
            tag = _choose(best[last], lane, tables.end)
            scores[rows[lane]] = scores_here[lane] + best[last, tag, lane] + tables.end[tag]
            for t in range(last, -1, -1):
                tags[rows[lane], t] = tag
                if t > 0:
                    tag = _choose(best[t - 1], lane, tables.turned[tag])


@inlined
def _rows(batch: Batch, group: int) -> Any:
    """A group's rows and their lengths, longest first."""
    ends = group * LANES, min((group + 1) * LANES, len(batch.order))
    return batch.order[ends[0] : ends[1]], batch.lengths[ends[0] : ends[1]]


@inlined
def _going(lengths: Ints, t: int) -> int:
    """How many rows have a token t."""
    going = len(lengths)
    while lengths[going - 1] <= t:
        going -= 1
    return going


@compiled
def _gather(e: Floats, rows: Ints, t: int, filling: Any, out: Floats) -> None:
    """Token t of each row into its lane of ``out`` (R, lanes); past K what a table of -inf makes nothing."""
    K = e.shape[2]
    if len(rows) < LANES or K < len(out):
        out[:] = filling
    for lane in range(len(rows)):
        row = e[rows[lane], t]
        for j in range(K):
            out[j, lane] = row[j]


@compiled
def _ahead(
    e: Floats, rows: Ints, lengths: Ints, factors: Factors, ahead: Floats, x: Floats, hard: Bools
) -> Floats:
    """A group's way ahead: fills ``ahead`` and ``x`` (T, R, lanes); log Z (lanes,), or where it is hard, 0."""
    K, R, kind = e.shape[2], len(factors.start), e.dtype
    log_z, scales = np.zeros(LANES), np.ones(LANES)
    tops, totals, least = np.empty(LANES, kind), np.empty(LANES, kind), np.full(LANES, kind.type(1))
    one = splat(kind.type(1))
    for t in range(lengths[0]):
        here, there = ahead[t], x[t]
        going = _going(lengths, t)
        _gather(e, rows[:going], t, kind.type(0), there)
        top = load(there[0])
        for j in range(1, K):
            top = larger(load(there[j]), top)
        for j in range(K):
            store(there[j], load(there[j]) - top)
        exp_in_place(there[:K].ravel())
        if t == 0:
            for j in range(R):
                store(here[j], splat(factors.start[j]) * load(there[j]))
        else:
            for j in range(0, R, BLOCK):
                _sums(ahead[t - 1], factors.turned, j, here)
            for j in range(R):
                store(here[j], load(here[j]) * load(there[j]))
        sums = load(here[0])
        for j in range(1, R):
            sums = sums + load(here[j])
        scale = one / sums
        for j in range(R):
            store(here[j], load(here[j]) * scale)
        store(tops, top)
        store(totals, sums)
        for lane in range(going):
            log_z[lane] += tops[lane]
            scales[lane] *= totals[lane]
            least[lane] = totals[lane] if totals[lane] < least[lane] else least[lane]
            if not 1e-150 < scales[lane] < 1e150:  # a logarithm is taken only near the ends of the format
                log_z[lane] += log(scales[lane])
                scales[lane] = 1.0
    for lane in range(len(rows)):
        last = lengths[lane] - 1
        ending = kind.type(0)
        for j in range(R):
            ending += ahead[last, j, lane] * factors.end[j]
        log_z[lane] += factors.shift + last * factors.move_shift + log(scales[lane]) + log(ending)
        if not (least[lane] >= factors.least and ending >= factors.least) or isnan(log_z[lane]):
            hard[rows[lane]] = True
            log_z[lane] = 0.0
            ahead[:, :, lane] = 0.0
            x[:, :, lane] = 0.0
    return log_z


@compiled
def _back(
    rows: Ints,
    lengths: Ints,
    factors: Factors,
    ahead: Floats,
    x: Floats,
    weights: Floats,
    arriving: Floats,
    unary: Floats,
    hard: Bools,
) -> None:
    """A group's way back, scaled so that Σj ahead[t, j] back[t, j] = 1, all times the weights (lanes,).

    Fills ``unary`` (B, T, K) with the marginals, and ``arriving`` (T, R, lanes), of which the moves to t are
    made; the latter is 0 where no row of the batch moves, and in hard rows.
    """
    K, R, kind = unary.shape[2], len(factors.start), ahead.dtype
    back, further, p = np.zeros((R, LANES), kind), np.empty((R, LANES), kind), np.empty((R, LANES), kind)
    totals, sums = np.empty(LANES, kind), np.empty(LANES, kind)
    one, weight = splat(kind.type(1)), load(weights)
    before = 0
    for t in range(lengths[0] - 1, -1, -1):
        going = _going(lengths, t)
        for lane in range(before, going):  # rows whose last token this is
            ending = kind.type(0)
            for j in range(R):
                ending += ahead[t, j, lane] * factors.end[j]
            for j in range(R):
                back[j, lane] = factors.end[j] / ending if ending > 0 else kind.type(0)
        before = going
        for j in range(R):
            store(p[j], load(ahead[t][j]) * load(back[j]) * weight)
        for lane in range(going):
            row = unary[rows[lane], t]
            for j in range(K):
                row[j] = p[j, lane]
        if t == 0:
            break
        here = arriving[t]
        for j in range(R):
            store(here[j], load(x[t][j]) * load(back[j]))
        for j in range(0, R, BLOCK):
            _sums(here, factors.moves, j, further)
        reached, all_back = splat(kind.type(0)), splat(kind.type(0))
        for j in range(R):
            reached = reached + load(ahead[t - 1][j]) * load(further[j])
            all_back = all_back + load(further[j])
        scale = one / reached
        scaled = scale * weight
        for j in range(R):
            store(here[j], load(here[j]) * scaled)
            store(back[j], load(further[j]) * scale)
        store(totals, reached)
        store(sums, all_back)
        for lane in range(going):
            enough = totals[lane] >= factors.least and totals[lane] >= factors.least * sums[lane]
            hard[rows[lane]] |= not enough
        if going < LANES:
            here[:, going:] = 0.0
    for lane in range(len(rows)):
        if hard[rows[lane]]:
            arriving[: lengths[0], :, lane] = 0.0
            ahead[: lengths[0], :, lane] = 0.0


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
def _reach(rows: Floats, table: Floats, j: int, out: Floats) -> None:
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
    """The first i with the largest best[i] + moves[i] of a lane. Shape: (R, lanes), (R,)."""
    choice, top = 0, best[0, lane] + moves[0]
    for i in range(1, len(moves)):
        value = best[i, lane] + moves[i]
        choice = i if value > top else choice
        top = value if value > top else top
    return choice


@inlined
def _score(e: Floats, path: Ints, tables: Tables) -> float:
    """A path's score. Shape: (T, K), (L,)."""
    last = len(path) - 1
    score = np.float64(tables.start[path[0]]) + tables.end[path[last]]
    for t in range(last + 1):
        score += e[t, path[t]]
    for t in range(last):
        score += tables.moves[path[t], path[t + 1]]
    return score


@inlined
def _observe(path: Ints, weight: Any, unary: Floats, moves: Floats) -> None:
    """Adds a path's own counts. Shape: (L,) -> (T, K), (K, K)."""
    for t in range(len(path)):
        unary[t, path[t]] += weight
        if t > 0:
            moves[path[t - 1], path[t]] += weight
