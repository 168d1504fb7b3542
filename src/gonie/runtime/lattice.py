"""Forward-backward: sums over every tag sequence, from which any probability is read without a new pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError
from gonie.runtime.chain import Chain, Floats, Ints
from gonie.runtime.sums import Summing, log_sum_exp


class Lattice:
    """The sums of one pass over a batch: partitions, marginals and the probability of any stretch of tags.

    Two tables of logarithms hold them: ``alpha`` (T, B, K) sums everything up to and at a token that ends in
    a tag, less ``taken`` (T, B), the largest at each step; ``beta`` (T, B, K) sums everything after it and is
    kept near zero likewise. What is taken off cancels in every probability: long sentences lose no digits.

    Shape: emissions (B, T, K) finite, lengths (B,)
    """

    def __init__(
        self, *, chain: Chain, summing: Summing, emissions: NDArray[np.floating], lengths: Ints
    ) -> None:
        self.lengths = lengths
        self._chain = chain
        self._emissions = emissions
        steps = emissions.transpose(1, 0, 2).astype(np.float64)  # (T, B, K)
        self._alpha, self._taken, self._beta, self._total = summing(steps, lengths)
        chain.need_a_path(self._total[0], lengths)

    def log_partition(self) -> Floats:
        """log Z of every sentence: (B,)."""
        rows = np.arange(len(self.lengths))
        final = log_sum_exp(self._alpha[self.lengths - 1, rows] + self._chain.end)
        inside = np.arange(len(self._taken))[:, None] < self.lengths  # (T, B)
        return np.asarray(final + np.where(inside, self._taken, 0.0).sum(axis=0))

    def marginals(self) -> Floats:
        """p(y_t = k) for every token: (B, T, K), 0 past a sentence's end."""
        inside = np.arange(len(self._alpha))[:, None] < self.lengths  # (T, B)
        chances = np.exp(self._alpha + self._beta - self._total[..., None])  # (T, B, K)
        return np.ascontiguousarray(np.where(inside[..., None], chances, 0.0).transpose(1, 0, 2))

    def chances(self, tags: Ints) -> Floats:
        """p(y_t = tags[b, t]) for every token, of its marginals the one asked for: (B, T) -> (B, T)."""
        times, rows = np.arange(len(self._alpha))[:, None], np.arange(len(self.lengths))
        inside = times < self.lengths  # (T, B)
        chosen = (times, rows, np.where(inside, tags.T, 0))
        chances = np.exp(self._alpha[chosen] + self._beta[chosen] - self._total)  # (T, B)
        return np.where(inside, chances, 0.0).T

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
        if not np.size(rows):
            return np.zeros(0)
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
