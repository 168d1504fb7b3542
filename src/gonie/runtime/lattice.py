"""Forward-backward: sums over every tag sequence, from which any probability is read without a new pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError
from gonie.runtime.chain import Chain, Floats, Ints

LOST = 1e-200  # a sum of exponentials below this may have lost terms to underflow and is taken again in logs


class Lattice:
    """The sums of one pass over a batch: partitions, marginals and the probability of any stretch of tags.

    Two tables of logarithms hold them: ``alpha`` (T, B, K) sums everything up to and at a token that ends in
    a tag, less ``taken`` (T, B), the largest at each step; ``beta`` (T, B, K) sums everything after it and is
    kept near zero likewise. What is taken off cancels in every probability: long sentences lose no digits.

    Shape: emissions (B, T, K) finite, lengths (B,)
    """

    def __init__(self, *, chain: Chain, emissions: NDArray[np.floating], lengths: Ints) -> None:
        self.lengths = lengths
        self._chain = chain
        self._emissions = emissions
        steps = emissions.transpose(1, 0, 2).astype(np.float64)  # (T, B, K)
        self._alpha, self._taken = _forward(chain, steps)
        self._beta = _backward(chain, steps, lengths)
        self._total = _log_sum_exp(self._alpha + self._beta)  # (T, B): over all paths, as seen from a token
        chain.need_a_path(self._total[0], lengths)

    def log_partition(self) -> Floats:
        """log Z of every sentence: (B,)."""
        rows = np.arange(len(self.lengths))
        final = _log_sum_exp(self._alpha[self.lengths - 1, rows] + self._chain.end)
        inside = np.arange(len(self._taken))[:, None] < self.lengths  # (T, B)
        return np.asarray(final + np.where(inside, self._taken, 0.0).sum(axis=0))

    def marginals(self) -> Floats:
        """p(y_t = k) for every token: (B, T, K), 0 past a sentence's end."""
        inside = np.arange(len(self._alpha))[:, None] < self.lengths  # (T, B)
        total = np.where(inside, self._total, np.inf)
        chances = np.exp(self._alpha + self._beta - total[..., None])  # (T, B, K)
        return np.ascontiguousarray(chances.transpose(1, 0, 2))

    def path_probability(self, row: int, start: int, end: int, tags: Sequence[int]) -> float:
        """p(tokens ``start`` to ``end``, exclusive, of sentence ``row`` carry exactly ``tags``)."""
        if not 0 <= start < end <= self.lengths[row] or len(tags) != end - start:
            raise GonieError(
                f"expected a tag for each token of a range in a sentence of {self.lengths[row]} tokens, "
                f"got {len(tags)} tags for [{start}, {end})"
            )
        path = np.zeros(self._emissions.shape[:2], dtype=np.int64)  # (B, T)
        path[row, start:end] = tags
        return float(self.path_probabilities([row], [start], [end], path)[0])

    def path_probabilities(self, rows: ArrayLike, starts: ArrayLike, ends: ArrayLike, tags: Ints) -> Floats:
        """For each of S ranges of tokens, the probability that it carries its part of ``tags``.

        log p = alpha[first, y_first] + what the tokens after the first add + beta[last, y_last] - total[last]

        Shape: rows (S,), starts (S,), ends (S,) exclusive, tags (B, T) -> (S,)
        """
        rows, firsts = np.asarray(rows, dtype=np.int64), np.asarray(starts, dtype=np.int64)
        lasts = np.asarray(ends, dtype=np.int64) - 1
        added = self._chain.added(self._emissions, self.lengths, tags) - self._taken.T  # (B, T)
        forbidden = np.isneginf(added)
        # running sums make any range two look-ups; a forbidden step would swallow them and is counted apart
        sums = np.cumsum(np.where(forbidden, 0.0, added), axis=1)
        breaks = np.cumsum(forbidden, axis=1)
        log = (
            self._alpha[firsts, rows, tags[rows, firsts]]
            + (sums[rows, lasts] - sums[rows, firsts])
            + self._beta[lasts, rows, tags[rows, lasts]]
            - self._total[lasts, rows]
        )
        possible = breaks[rows, lasts] == breaks[rows, firsts]
        return np.where(possible, np.exp(np.minimum(log, 0.0)), 0.0)


class Advance:
    """One step of the sum: entry (b, j) of the result is log sum_i exp(scores[b, i] + weights[i, j]).

    The sum is a matrix product of exponentials, each taken relative to its largest; the few entries too small
    for that are summed again in logs, so scores of any size are safe.
    """

    def __init__(self, weights: Floats) -> None:
        self._weights = weights
        self._shift = _top(weights.T)  # (K,)
        self._chances = np.exp(weights - self._shift)  # (K, K), entries at most 1

    def __call__(self, scores: Floats) -> Floats:
        """Shape: scores (B, K) -> (B, K)."""
        top = _top(scores)[:, None]  # (B, 1)
        mass = np.exp(scores - top) @ self._chances  # (B, K)
        reached: Floats = np.log(np.maximum(mass, LOST)) + top + self._shift
        rows, tags = np.nonzero(mass < LOST)
        if rows.size:
            reached[rows, tags] = _log_sum_exp(scores[rows] + self._weights[:, tags].T)
        return reached


def _forward(chain: Chain, steps: Floats) -> tuple[Floats, Floats]:
    """Entry (t, b, k): log of the sum over all tags before t, with tag k at t; and what was taken off."""
    advance = Advance(chain.transitions)
    alpha, taken = np.empty_like(steps), np.empty(steps.shape[:2])  # (T, B, K), (T, B)
    for t, step in enumerate(steps):
        reached = (advance(alpha[t - 1]) if t else chain.start) + step  # (B, K)
        taken[t] = _top(reached)
        alpha[t] = reached - taken[t][:, None]
    return alpha, taken


def _backward(chain: Chain, steps: Floats, lengths: Ints) -> Floats:
    """Entry (t, b, k): log of the sum over all tags after t, given tag k at t, kept near zero."""
    advance = Advance(chain.transitions.T)
    beta = np.empty_like(steps)  # (T, B, K)
    beta[-1] = chain.end
    for t in range(len(steps) - 2, -1, -1):
        reached = advance(beta[t + 1] + steps[t + 1])  # (B, K)
        is_last = np.equal(t, lengths - 1)[:, None]  # (B, 1)
        beta[t] = np.where(is_last, chain.end, reached - _top(reached)[:, None])
    return beta


def _top(values: Floats) -> Floats:
    """The largest of the last axis, or 0 where all are minus infinity, to be taken off safely."""
    top = values.max(axis=-1)
    return np.where(np.isfinite(top), top, 0.0)


def _log_sum_exp(values: Floats) -> Floats:
    """log sum exp over the last axis, minus infinity where every entry is: (..., K) -> (...)."""
    top = _top(values)
    with np.errstate(divide="ignore"):  # log 0 is the answer for a forbidden state
        return np.asarray(np.log(np.exp(values - top[..., None]).sum(axis=-1)) + top)
