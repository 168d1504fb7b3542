"""The mean of several chains over the tag sequences of the same batch, as an ensemble of taggers gives it.

    p(y) = 1/M Σ_m p_m(y)

The probability of a tag, or of the tags of a range of tokens, is the mean of those of the chains.

The best sequence of a mixture of chains is hard to find: p(y) does not factor over neighbouring tags. So the
best sequence is that of the nearest chain q, the one with the lowest KL(p ‖ q). It has the probabilities of
single tags and of pairs of neighbours that p has:

    q(y) = p(y_1) Π_t p(y_(t-1), y_t) / p(y_(t-1))

For one chain, q is p. A sequence with more than half of the probability is the best one of p and of q. Only
sequences that some chain allows are found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gonie.runtime.chain import Floats, Ints
from gonie.runtime.forward_backward import HALF, Lattice


class Mixture:
    """The mean of the distributions of ``lattices``, which are of the same sentences. M ≥ 1."""

    def __init__(self, lattices: Sequence[Lattice]) -> None:
        self._lattices = lattices
        self.lengths = lattices[0].lengths
        self.member_marginals = np.stack([lattice.marginals() for lattice in lattices])
        """p_m(y_t = k): (M, B, T, K), 0 at padding"""
        self.marginals: Floats = self.member_marginals.mean(axis=0)
        """p(y_t = k): (B, T, K), 0 at padding"""
        self._inside = np.arange(self.marginals.shape[1]) < self.lengths[:, None]  # (B, T)

    def chances(self, tags: Ints) -> Floats:
        """Return the marginal p(y_t = tags[b, t]) of every token: (B, T) -> (B, T), 0 at padding."""
        chosen = np.take_along_axis(self.marginals, np.maximum(tags, 0)[..., None], axis=2)
        return np.asarray(chosen[..., 0])

    def path_probabilities(self, rows: ArrayLike, starts: ArrayLike, ends: ArrayLike, tags: Ints) -> Floats:
        """Return the mean of ``Lattice.path_probabilities`` of the chains. Shape: (S,)."""
        found = [lattice.path_probabilities(rows, starts, ends, tags) for lattice in self._lattices]
        return np.asarray(np.mean(found, axis=0))

    def best_tags(self) -> Ints:
        """Return the best sequence of the nearest chain: (B, T), -1 at padding."""
        doubts = np.where(self._inside, 1 - self.marginals.max(axis=2), 0.0).sum(axis=1)  # (B,)
        if (doubts < HALF).all():
            return self._ended(self.marginals.argmax(axis=2))

        def moves(t: int, pairs: Floats) -> Floats:
            given = self.marginals[:, t - 1, :, None]  # (B, K, 1)
            return _log(np.divide(pairs, given, out=np.zeros_like(pairs), where=given > 0))

        return self._search(_log(self.marginals[:, 0]), moves)

    def posterior(self) -> Ints:
        """Return the sequence with the most tags expected to be right: (B, T), -1 at padding.

        Only pairs of neighbours with a positive probability occur in it.
        """

        def moves(t: int, pairs: Floats) -> Floats:
            return np.where(pairs > 0, self.marginals[:, t, None], -np.inf)

        return self._search(self.marginals[:, 0], moves)

    def _search(self, first: Floats, moves: Callable[[int, Floats], Floats]) -> Ints:
        """Return the sequence with the highest sum of scores, by Viterbi.

        ``first`` (B, K) scores the first tag. ``moves(t, pairs)`` scores each tag at t after each tag at
        t - 1, given the probabilities of these ``pairs``: (B, K, K), minus infinity if impossible.
        """
        B, T, K = self.marginals.shape
        best = first  # (B, K), the score of the best prefix that ends in each tag
        before = np.zeros((T, B, K), dtype=np.int64)  # the tag that precedes each tag in this prefix
        last = best.argmax(axis=1)  # (B,), the best last tag, which is final where the sentence has ended
        for t in range(1, T):
            pairs = np.mean([lattice.pairs(t) for lattice in self._lattices], axis=0)  # (B, K, K)
            reached = best[:, :, None] + moves(t, pairs)  # (B, K, K)
            before[t] = reached.argmax(axis=1)
            best = reached.max(axis=1)
            last = np.where(t < self.lengths, best.argmax(axis=1), last)
        tags = np.empty((B, T), dtype=np.int64)
        for t in range(T - 1, -1, -1):
            tags[:, t] = last
            last = np.where(t < self.lengths, before[t, np.arange(B), last], last)
        return self._ended(tags)

    def _ended(self, tags: Ints) -> Ints:
        return np.where(self._inside, tags, -1)


def _log(chances: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # minus infinity is the score of what no chain allows
        return np.asarray(np.log(chances))
