"""The sums of forward–backward, computed with probabilities or in logarithms.

Products of probabilities take a few short numpy operations per token, which is fastest for a single sentence.
If the scores differ so much that probabilities underflow, the sums are computed again in logarithms, which
are safe for scores of any size. This is decided per sentence, so it never depends on the rest of the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.runtime.chain import ChainWeights, Floats, Ints, chunk_size

LOST = 1e-200  # a sum of probabilities below this may have lost terms to underflow
EVERY = 8  # tokens between two rescalings of the sums, well before they could underflow


class Logs(NamedTuple):
    """The tables of logarithms that ``Lattice`` describes."""

    alpha: Floats
    """(T, B, K)"""
    taken: Floats
    """(T, B)"""
    beta: Floats
    """(T, B, K)"""
    total: Floats
    """(T, B): log-sum-exp of alpha + beta over all tags"""


@dataclass(frozen=True)
class Sums:
    """The result: ``marginals`` (T, B, K) sum to 1 for each token, and are undefined at padding.

    ``logs`` computes the other tables on demand. Most sentences have no spans, whose probabilities need them.
    """

    marginals: Floats
    logs: Callable[[], Logs]


class ForwardBackward:
    """Sum over all tag sequences of a chain. Call it with the scores of a batch."""

    def __init__(self, chain: ChainWeights) -> None:
        self._chain = chain
        self._tops = _top(chain.transitions.ravel()), _top(chain.start)
        chances = np.exp(chain.transitions - self._tops[0])  # (K, K), entries at most 1
        self._chances = np.stack([chances, chances.T])  # (2, K, K): onward, and backward
        ends = np.exp([chain.start - self._tops[1], chain.end - _top(chain.end)])
        self._ends = ends[:, None]  # (2, 1, K)
        self._ahead_in_logs = LogStep(chain.transitions)
        self._back_in_logs = LogStep(chain.transitions.T)

    def __call__(self, steps: Floats, lengths: Ints) -> Sums:
        """Return the sums of a batch. Shape: steps (T, B, K) finite, lengths (B,)."""
        if self._chain.independent:
            return _independent(steps)
        sums, lost = self._by_chances(steps, lengths)
        if lost is None or not lost.any():
            return sums
        again = self._in_logs(steps[:, lost], lengths[lost])
        self._chain.require_path(again.total[0], lengths[lost])
        sums.marginals[:, lost] = np.exp(again.alpha + again.beta - again.total[..., None])

        def logs() -> Logs:
            found = sums.logs()
            for part, own in zip(found, again, strict=True):
                part[:, lost] = own
            return found

        return Sums(sums.marginals, logs)

    def _by_chances(self, steps: Floats, lengths: Ints) -> tuple[Sums, NDArray[np.bool_] | None]:
        """Return the sums, and for which sentences (B,) they have underflowed, or None if for none.

        The backward sums are forward sums of the reversed sentence, so one loop computes both.
        """
        flip = Reverser(lengths, len(steps))
        tops = steps.max(axis=2, keepdims=True)  # (T, B, 1)
        chances = np.exp(steps - tops)  # (T, B, K), the largest of a token 1
        both = np.empty((len(steps), 2, *steps.shape[1:]))  # (T, 2, B, K)
        both[:, 0], both[:, 1] = chances, flip(chances)
        before, upto = np.empty_like(both), np.empty_like(both)  # without, and with, the score of each token
        kept: dict[int, Floats] = {}  # divisors of the rescaled steps: (2, B, 1)
        with np.errstate(divide="ignore", invalid="ignore"):  # sentences that underflow are computed again
            before[0] = self._ends
            np.multiply(before[0], both[0], out=upto[0])
            for t in range(1, len(both)):
                np.matmul(upto[t - 1], self._chances, out=before[t])
                np.multiply(before[t], both[t], out=upto[t])
                if t % EVERY == 0:
                    kept[t] = upto[t].max(axis=2, keepdims=True)
                    upto[t] /= kept[t]
            alpha, beta = upto[:, 0], flip(before[:, 1])
            marginals = alpha * beta
            mass = marginals.sum(axis=2, keepdims=True)  # (T, B, 1)
            marginals /= mass

        def logs() -> Logs:
            with np.errstate(divide="ignore"):  # log 0 is the answer for a forbidden state
                taken = tops[..., 0] + self._tops[0]
                taken[0] += self._tops[1] - self._tops[0]
                for t, by in kept.items():
                    taken[t] += np.log(by[0, :, 0])
                return Logs(np.log(alpha), taken, np.log(beta), np.log(mass[..., 0]))

        sums = Sums(marginals, logs)
        if all(part.min() > LOST for part in (mass, *kept.values())):
            return sums, None
        sound = mass[..., 0] > LOST  # (T, B)
        for t, by in kept.items():
            sound[t] &= (by > LOST).all(axis=(0, 2))
        return sums, np.logical_not(flip.inside(sound).all(axis=0))

    def _in_logs(self, steps: Floats, lengths: Ints) -> Logs:
        alpha, taken = np.empty_like(steps), np.empty(steps.shape[:2])  # (T, B, K), (T, B)
        for t, step in enumerate(steps):
            reached = (self._ahead_in_logs(alpha[t - 1]) if t else self._chain.start) + step  # (B, K)
            taken[t] = _top(reached)
            alpha[t] = reached - taken[t][:, None]
        beta = np.empty_like(steps)  # (T, B, K)
        beta[-1] = self._chain.end
        for t in range(len(steps) - 2, -1, -1):
            reached = self._back_in_logs(beta[t + 1] + steps[t + 1])  # (B, K)
            is_last = np.equal(t, lengths - 1)[:, None]  # (B, 1)
            beta[t] = np.where(is_last, self._chain.end, reached - _top(reached)[:, None])
        return Logs(alpha, taken, beta, log_sum_exp(alpha + beta))


def _independent(steps: Floats) -> Sums:
    """Return the sums of tags that do not depend on each other: a softmax for each token."""
    taken = log_sum_exp(steps)  # (T, B)
    alpha = steps - taken[..., None]  # (T, B, K)
    return Sums(np.exp(alpha), lambda: Logs(alpha, taken, np.zeros_like(alpha), np.zeros_like(taken)))


class Reverser:
    """Reverse the tokens of each sentence within its length. Padding stays in place."""

    def __init__(self, lengths: Ints, T: int) -> None:
        self._full = min(lengths.tolist()) == T
        if not self._full:
            times = np.arange(T)[:, None]
            self._outside = times >= lengths  # (T, B)
            self._places = np.where(self._outside, times, lengths - 1 - times), np.arange(len(lengths))

    def __call__(self, table: Floats) -> Floats:
        """Return the reversed table. Shape: (T, B, K) -> (T, B, K)."""
        return table[::-1] if self._full else table[self._places]

    def inside(self, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the values of the tokens (T, B), with true at padding."""
        return holds if self._full else holds | self._outside


class LogStep:
    """One step in logarithms: entry (b, j) of the result is log sum_i exp(scores[b, i] + weights[i, j]).

    The sum is a matrix product of exponentials relative to their maximum. The few entries that underflow are
    summed again in logarithms, so scores of any size are safe.
    """

    def __init__(self, weights: Floats) -> None:
        self._weights = weights
        self._shift = _top(weights.T)  # (K,)
        self._chances = np.exp(weights - self._shift)  # (K, K), entries at most 1

    def __call__(self, scores: Floats) -> Floats:
        """Return the sums of the next step. Shape: scores (B, K) -> (B, K)."""
        top = _top(scores)[:, None]  # (B, 1)
        mass = np.exp(scores - top) @ self._chances  # (B, K)
        reached: Floats = np.log(np.maximum(mass, LOST)) + top + self._shift
        lost = np.stack(np.nonzero(mass < LOST))  # (2, n)
        some = chunk_size(scores.shape[1])
        for first in range(0, lost.shape[1], some):
            rows, tags = lost[:, first : first + some]
            reached[rows, tags] = log_sum_exp(scores[rows] + self._weights[:, tags].T)
        return reached


def log_sum_exp(values: Floats) -> Floats:
    """Return log-sum-exp over the last axis, minus infinity where every entry is: (..., K) -> (...)."""
    top = _top(values)
    with np.errstate(divide="ignore"):  # log 0 is the answer for a forbidden state
        return np.asarray(np.log(np.exp(values - top[..., None]).sum(axis=-1)) + top)


def _top(values: Floats) -> Floats:
    """Return the maximum over the last axis, or 0 where all are minus infinity, to subtract it safely."""
    top = values.max(axis=-1)
    return np.where(np.isfinite(top), top, 0.0)
