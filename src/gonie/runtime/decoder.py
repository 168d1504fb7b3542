"""Decoding: the best tag sequence of every sentence, and its probabilities.

All sentences of a batch advance together, so the only Python loop is over time. Padding is never read, so a
result never depends on the other sentences of the batch. ``chain`` has the model, ``forward_backward`` the
probabilities.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError
from gonie.runtime.chain import Allowed, ChainWeights, Floats, Ints, chunk_size
from gonie.runtime.forward_backward import Lattice
from gonie.runtime.forward_backward_sums import ForwardBackward
from gonie.runtime.nbest import nbest


class Decoder:
    """Viterbi and forward-backward over ``transitions`` (K, K) [from, to], ``start`` (K,) and ``end`` (K,).

    ``allowed`` holds boolean masks of the same three shapes, as ``schemes.allowed`` returns them. Where they
    are false, decoding and probabilities treat a transition as impossible.

    Probabilities are those of ``calibrated``, the chain at the ``temperature``. No decision depends on it:
    the best sequences have the same order at any temperature, and ``posterior`` uses the marginals at 1.
    """

    def __init__(
        self,
        *,
        transitions: ArrayLike,
        start: ArrayLike,
        end: ArrayLike,
        allowed: Allowed | None = None,
        temperature: float = 1.0,
    ) -> None:
        self.chain = ChainWeights(transitions=transitions, start=start, end=end, allowed=allowed)
        self.calibrated = self.chain.tempered(temperature)
        self.num_tags = self.chain.num_tags
        self._engine = ForwardBackward(self.calibrated)
        self._onward = np.ascontiguousarray(self.chain.transitions.T)  # (to, from)
        self._allowed = allowed

    @property
    def temperature(self) -> float:
        """The temperature of all probabilities."""
        return self.calibrated.temperature

    def with_temperature(self, temperature: float) -> Decoder:
        """Return a decoder of the same chain with probabilities at another temperature."""
        decoder = copy(self)
        decoder.calibrated = self.chain.tempered(temperature)
        decoder._engine = ForwardBackward(decoder.calibrated)
        return decoder

    def viterbi(self, emissions: ArrayLike, lengths: ArrayLike) -> tuple[Ints, Floats]:
        """Return the best allowed tag sequence of every sentence and its score.

        Shape: emissions (B, T, K), lengths (B,) -> tags (B, T) with -1 past a sentence's end, scores (B,)
        """
        scores, sizes = self.checked(emissions, lengths)
        tags = self.best_tags(scores, sizes)
        return tags, self.chain.path_scores(scores, sizes, tags)

    def best_tags(self, scores: NDArray[np.floating], sizes: Ints) -> Ints:
        """Return the tags of ``viterbi`` for scores and lengths that were ``checked``."""
        if self.chain.independent:
            return _ended(scores.argmax(axis=2), sizes)
        best = self._best_prefixes(scores)  # (T, B, K)
        final = best[sizes - 1, np.arange(len(sizes))] + self.chain.end  # (B, K)
        self.chain.require_path(final.max(axis=1), sizes)
        last = final.argmax(axis=1)  # (B,)
        tags = np.empty((scores.shape[1], len(sizes)), dtype=np.int64)  # (T, B)
        tags[-1] = last
        ending = set(sizes.tolist())
        for t in range(len(tags) - 2, -1, -1):
            # entry (b, i): the best prefix of b that ends in tag i at t and continues to the tag at t + 1
            (best[t] + self._onward[tags[t + 1]]).argmax(axis=1, out=tags[t])
            if t + 1 in ending:
                np.copyto(tags[t], last, where=sizes == t + 1)
        return _ended(tags.T, sizes)

    def best_of(self, lattice: Lattice) -> Ints:
        """Return the result of ``best_tags`` from existing sums. Most sentences need no search.

        A sequence with more than half of the probability is the best one, at any temperature.
        """
        tags, found = lattice.likeliest()
        if not found.all():
            lengths = lattice.lengths[~found]
            longest = int(lengths.max())
            tags[~found, :longest] = self.best_tags(lattice.emissions[~found, :longest], lengths)
        return tags if lattice.full else _ended(tags, lattice.lengths)

    def nbest(self, emissions: ArrayLike, lengths: ArrayLike, n: int) -> tuple[Ints, Floats]:
        """Return the n best allowed tag sequences of every sentence, best first, and their scores.

        Shape: emissions (B, T, K), lengths (B,) -> tags (B, n, T), -1 past a sentence's end, and scores
        (B, n); -1 and minus infinity where a sentence has fewer than n.
        """
        scores, sizes = self.checked(emissions, lengths)
        if n < 1:
            raise GonieError(f"the number of tag sequences must be at least 1, got {n}")
        tags, values = nbest(self.chain, scores, sizes, n)
        self.chain.require_path(values[:, 0], sizes)
        return tags, values

    def posterior(self, emissions: ArrayLike, lengths: ArrayLike) -> tuple[Ints, Floats]:
        """Return the allowed sequence with the most tags expected to be correct, and that expected number.

        The expectation is that of the chain without temperature.

        Shape: emissions (B, T, K), lengths (B,) -> tags (B, T) with -1 past a sentence's end, (B,)
        """
        nothing = np.zeros((self.num_tags, self.num_tags))
        legal = Decoder(transitions=nothing, start=nothing[0], end=nothing[0], allowed=self._allowed)
        own = self if self.temperature == 1 else self.with_temperature(1.0)
        return legal.viterbi(own.marginals(emissions, lengths), lengths)

    def forward_backward(self, emissions: ArrayLike, lengths: ArrayLike) -> Lattice:
        """Sum over all allowed sequences of every sentence. The ``Lattice`` returns their probabilities.

        Shape: emissions (B, T, K), lengths (B,)
        """
        return self.lattice(*self.checked(emissions, lengths))

    def lattice(self, scores: NDArray[np.floating], sizes: Ints) -> Lattice:
        """Return the result of ``forward_backward`` for scores and lengths that were ``checked``."""
        return Lattice(chain=self.calibrated, engine=self._engine, emissions=scores, lengths=sizes)

    def marginals(self, emissions: ArrayLike, lengths: ArrayLike) -> Floats:
        """Return the probability of every tag at every token: (B, T, K), (B,) -> (B, T, K), 0 at padding."""
        return self.forward_backward(emissions, lengths).marginals()

    def _best_prefixes(self, emissions: NDArray[np.floating]) -> Floats:
        """Return in entry (t, b, i) the best score of a prefix of b that ends in tag i at t.

        Only maxima are stored. Backtracking takes one argmax per sentence and step instead of K.
        """
        best = emissions.transpose(1, 0, 2).astype(np.float64)  # (T, B, K): double avoids ties
        best[0] += self.chain.start
        some = chunk_size(self.num_tags**2)
        for row in range(0, best.shape[1], some):
            self._add_best_prefixes(best[:, row : row + some])
        return best

    def _add_best_prefixes(self, best: Floats) -> None:
        """Add to each step (B, K) of ``best`` (T, B, K) the score of the best prefix that leads there."""
        moves = self.chain.transitions[:, None]  # (from, 1, to)
        reached = np.empty((self.num_tags, *best.shape[1:]))  # (from, B, to): the maximum is over the first
        for t in range(1, len(best)):
            np.add(best[t - 1].T[..., None], moves, out=reached)
            best[t] += np.maximum.reduce(reached, axis=0)

    def checked(self, emissions: ArrayLike, lengths: ArrayLike) -> tuple[NDArray[np.floating], Ints]:
        """Check shapes and ranges. Return the scores with zeros at padding, and the lengths."""
        scores: NDArray[np.floating] = np.asarray(emissions)
        sizes: Ints = np.asarray(lengths, dtype=np.int64)
        if scores.ndim != 3 or scores.shape[2] != self.num_tags or sizes.shape != scores.shape[:1]:
            raise GonieError(
                f"expected emissions (B, T, {self.num_tags}) and lengths (B,), "
                f"got {scores.shape} and {sizes.shape}"
            )
        least, most = min(sizes.tolist(), default=1), max(sizes.tolist(), default=1)
        if least < 1 or most > scores.shape[1]:
            raise GonieError(f"expected lengths from 1 to {scores.shape[1]}, got {least} to {most}")
        if least < scores.shape[1]:
            inside = np.arange(scores.shape[1]) < sizes[:, None]  # (B, T)
            scores = np.where(inside[..., None], scores, 0)
        if not np.isfinite(scores).all():
            raise GonieError(
                "the model returned nan or infinite scores. "
                "Train again with a lower learning rate (train.lr) or stronger gradient clipping (train.clip)"
            )
        return scores, sizes


def _ended(tags: Ints, lengths: Ints) -> Ints:
    """Return the tags (B, T) with -1 at padding."""
    return np.where(np.arange(tags.shape[1]) < lengths[:, None], tags, -1)
