"""Forward-backward: sums over every tag sequence, from which any probability is read without a new pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError
from gonie.runtime.chain import ChainWeights, Floats, Ints
from gonie.runtime.forward_backward_sums import Logs, Summing, log_sum_exp

HALF = 0.49  # of a sentence's probability, with room for rounding


class Lattice:
    """The sums of one pass over a batch: partitions, marginals and the probability of any stretch of tags.

    Two tables of logarithms hold them: ``alpha`` (T, B, K) sums everything up to and at a token that ends in
    a tag, less ``taken`` (T, B), the largest at each step; ``beta`` (T, B, K) sums everything after it and is
    kept near zero likewise. What is taken off cancels in every probability: long sentences lose no digits.

    Shape: emissions (B, T, K) finite, lengths (B,)
    """

    def __init__(
        self, *, chain: ChainWeights, summing: Summing, emissions: NDArray[np.floating], lengths: Ints
    ) -> None:
        self.lengths = lengths
        self._chain = chain
        self.emissions = emissions
        steps = emissions.transpose(1, 0, 2).astype(np.float64)  # (T, B, K)
        self._sums = summing(steps, lengths)
        self.full = min(lengths.tolist()) == len(steps)  # nothing is past a sentence's end

    @cached_property
    def _logs(self) -> Logs:
        return self._sums.logs()

    def log_partition(self) -> Floats:
        """log Z of every sentence: (B,)."""
        rows = np.arange(len(self.lengths))
        final = log_sum_exp(self._logs.alpha[self.lengths - 1, rows] + self._chain.end)
        return np.asarray(final + self._inside(self._logs.taken).sum(axis=0))

    def marginals(self) -> Floats:
        """p(y_t = k) for every token: (B, T, K), 0 past a sentence's end."""
        inside = self._inside(self._sums.marginals)
        return np.ascontiguousarray(inside.transpose(1, 0, 2))

    def likeliest(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Of every token the tag with the largest marginal, and of which sentences that is the best sequence.

        A sequence goes wrong at one of its tokens: with more than 1 - sum_t (1 - p(y_t)). One that has more
        than half of all probability is better than any other, so nobody has to look for the best.

        Shape: (B, T), (B,)
        """
        doubts = self._inside(1.0 - self._sums.marginals.max(axis=2))  # (T, B)
        return self._sums.marginals.argmax(axis=2).T, doubts.sum(axis=0) < HALF

    def chances(self, tags: Ints) -> Floats:
        """p(y_t = tags[b, t]) for every token, of its marginals the one asked for: (B, T) -> (B, T)."""
        marginals = self._sums.marginals
        times, rows = np.arange(len(marginals))[:, None], np.arange(len(self.lengths))
        return self._inside(marginals[times, rows, tags.T]).T

    def _inside(self, table: Floats) -> Floats:
        """Values of each token (T, B, …), 0 past a sentence's end."""
        if self.full:
            return table
        inside = np.arange(len(table))[:, None] < self.lengths  # (T, B)
        return np.where(inside if table.ndim == 2 else inside[..., None], table, 0.0)

    def path_probability(self, row: int, start: int, end: int, tags: Sequence[int]) -> float:
        """p(tokens ``start`` to ``end``, exclusive, of sentence ``row`` carry exactly ``tags``)."""
        if not 0 <= start < end <= self.lengths[row] or len(tags) != end - start:
            raise GonieError(
                f"expected a tag for each token of a range in a sentence of {self.lengths[row]} tokens, "
                f"got {len(tags)} tags for [{start}, {end})"
            )
        path = np.zeros(self.emissions.shape[:2], dtype=np.int64)  # (B, T)
        path[row, start:end] = tags
        return float(self.path_probabilities([row], [start], [end], path)[0])

    def path_probabilities(self, rows: ArrayLike, starts: ArrayLike, ends: ArrayLike, tags: Ints) -> Floats:
        """For each of S ranges of tokens, the probability that it carries its part of ``tags``.

        log p = alpha[first, y_first] + what the tokens after the first add + beta[last, y_last] - total[last]

        Shape: rows (S,), starts (S,), ends (S,) exclusive, tags (B, T) -> (S,)
        """
        if not np.size(rows):
            return np.zeros(0)
        rows, firsts = np.asarray(rows, dtype=np.int64), np.asarray(starts, dtype=np.int64)
        lasts = np.asarray(ends, dtype=np.int64) - 1
        alpha, taken, beta, total = self._logs
        added = self._chain.added(self.emissions, self.lengths, tags) - taken.T  # (B, T)
        forbidden = np.isneginf(added)
        # running sums make any range two look-ups; a forbidden step would swallow them and is counted apart
        sums = np.cumsum(np.where(forbidden, 0.0, added), axis=1)
        breaks = np.cumsum(forbidden, axis=1)
        log = (
            alpha[firsts, rows, tags[rows, firsts]]
            + (sums[rows, lasts] - sums[rows, firsts])
            + beta[lasts, rows, tags[rows, lasts]]
            - total[lasts, rows]
        )
        possible = breaks[rows, lasts] == breaks[rows, firsts]
        return np.where(possible, np.exp(np.minimum(log, 0.0)), 0.0)
