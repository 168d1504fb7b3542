"""Forward–backward: sums over all tag sequences, from which probabilities are computed without a new pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError
from gonie.runtime.chain import ChainWeights, Floats, Ints
from gonie.runtime.forward_backward_sums import ForwardBackward, Logs, log_sum_exp

HALF = 0.49  # half of the probability of a sentence, less a margin for rounding


class Lattice:
    """The sums of one pass over a batch: partition functions, marginals and probabilities of tag ranges.

    They are stored as logarithms. ``alpha`` (T, B, K) sums over all prefixes that end in a tag at a token,
    minus ``taken`` (T, B), the maximum of each step. ``beta`` (T, B, K) sums over all suffixes and is scaled
    likewise. The scaling cancels in every probability, so long sentences lose no precision.

    ``emissions`` are those of the model. They are divided by the temperature of ``chain``, which ``engine``
    sums over.

    Shape: emissions (B, T, K) finite, lengths (B,)
    """

    def __init__(
        self, *, chain: ChainWeights, engine: ForwardBackward, emissions: NDArray[np.floating], lengths: Ints
    ) -> None:
        self.lengths = lengths
        self._chain = chain
        self.emissions = emissions
        steps = np.divide(emissions.transpose(1, 0, 2), chain.temperature, dtype=np.float64)  # (T, B, K)
        self._sums = engine(steps, lengths)
        self.full = min(lengths.tolist()) == len(steps)  # whether there is no padding

    @cached_property
    def _logs(self) -> Logs:
        return self._sums.logs()

    def log_partition(self) -> Floats:
        """Return log Z of every sentence: (B,)."""
        rows = np.arange(len(self.lengths))
        final = log_sum_exp(self._logs.alpha[self.lengths - 1, rows] + self._chain.end)
        return np.asarray(final + self._inside(self._logs.taken).sum(axis=0))

    def marginals(self) -> Floats:
        """Return p(y_t = k) for every token: (B, T, K), 0 at padding."""
        inside = self._inside(self._sums.marginals)
        return np.ascontiguousarray(inside.transpose(1, 0, 2))

    def likeliest(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the most probable tag of every token, and for which sentences these form the best sequence.

        The probability of the sequence is at least 1 - sum_t (1 - p(y_t)). If that is more than one half, no
        other sequence can be better, so no search is needed.

        Shape: (B, T), (B,)
        """
        doubts = self._inside(1.0 - self._sums.marginals.max(axis=2))  # (T, B)
        return self._sums.marginals.argmax(axis=2).T, doubts.sum(axis=0) < HALF

    def chances(self, tags: Ints) -> Floats:
        """Return the marginal p(y_t = tags[b, t]) of every token: (B, T) -> (B, T)."""
        marginals = self._sums.marginals
        times, rows = np.arange(len(marginals))[:, None], np.arange(len(self.lengths))
        return self._inside(marginals[times, rows, tags.T]).T

    def pairs(self, t: int) -> Floats:
        """Return p(y_(t-1) = i, y_t = j) for the tokens t - 1 and t of every sentence, 0 at padding.

        log p = alpha[t-1, i] + step score of i -> j + beta[t, j] - total[t]

        Shape: (B, K, K)
        """
        alpha, taken, beta, total = self._logs
        with np.errstate(invalid="ignore"):  # at padding
            ahead = self.emissions[:, t] / self._chain.temperature + beta[t] - (taken[t] + total[t])[:, None]
            log = alpha[t - 1][:, :, None] + self._chain.transitions + ahead[:, None, :]  # (B, K, K)
        inside = (t < self.lengths)[:, None, None]
        return np.where(inside, np.exp(np.minimum(log, 0.0)), 0.0)

    def _inside(self, table: Floats) -> Floats:
        """Return the values of each token (T, B, …), with 0 at padding."""
        if self.full:
            return table
        inside = np.arange(len(table))[:, None] < self.lengths  # (T, B)
        return np.where(inside if table.ndim == 2 else inside[..., None], table, 0.0)

    def path_probability(self, row: int, start: int, end: int, tags: Sequence[int]) -> float:
        """Return the probability that tokens [start, end) of sentence ``row`` have exactly ``tags``."""
        if not 0 <= start < end <= self.lengths[row] or len(tags) != end - start:
            raise GonieError(
                f"invalid range [{start}, {end}) with {len(tags)} tags in a sentence of {self.lengths[row]} "
                "tokens"
            )
        path = np.zeros(self.emissions.shape[:2], dtype=np.int64)  # (B, T)
        path[row, start:end] = tags
        return float(self.path_probabilities([row], [start], [end], path)[0])

    def path_probabilities(self, rows: ArrayLike, starts: ArrayLike, ends: ArrayLike, tags: Ints) -> Floats:
        """Return, for each of S ranges of tokens, the probability that it has its part of ``tags``.

        log p = alpha[first, y_first] + step scores after the first + beta[last, y_last] - total[last]

        Shape: rows (S,), starts (S,), ends (S,) exclusive, tags (B, T) -> (S,)
        """
        if not np.size(rows):
            return np.zeros(0)
        rows, firsts = np.asarray(rows, dtype=np.int64), np.asarray(starts, dtype=np.int64)
        lasts = np.asarray(ends, dtype=np.int64) - 1
        alpha, taken, beta, total = self._logs
        added = self._chain.step_scores(self.emissions, self.lengths, tags) - taken.T  # (B, T)
        forbidden = np.isneginf(added)
        # with cumulative sums, a range takes two lookups; forbidden steps (-inf) are counted separately
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
