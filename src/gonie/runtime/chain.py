"""The weights of a linear chain, in which forbidden transitions have probability 0.

A sentence of n tokens with emissions e and tags y has the score

    s(y) = start[y_1] + sum_t e[t, y_t] + sum_t transitions[y_(t-1), y_t] + end[y_n],    p(y) = exp s(y) / Z.

At the temperature T, p(y) is proportional to exp(s(y) / T). The best sequence is the same at any temperature,
and T sets how much more probable it is than others: the higher T, the more cautious the probabilities. A
softmax model is the same chain with zero transitions. In the shapes of this package, B is the number of
sentences, T the number of tokens of the longest sentence, and K the number of tags.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LARGEST = 1 << 22  # maximum numbers in memory per step, unless a single sentence needs more

Allowed = tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]


def chunk_size(numbers: int) -> int:
    """Return how many items fit in memory at a time if each needs so many ``numbers``, at least one."""
    return max(1, LARGEST // numbers)


class ChainWeights:
    """The weights ``transitions`` (K, K) indexed [from, to], ``start`` (K,) and ``end`` (K,), in float64.

    ``allowed`` holds boolean masks of the same three shapes. Where they are false, the weight is minus
    infinity.
    """

    def __init__(
        self, *, transitions: ArrayLike, start: ArrayLike, end: ArrayLike, allowed: Allowed | None = None
    ) -> None:
        weights = [np.array(part, dtype=np.float64) for part in (transitions, start, end)]
        tags = weights[1].size
        shapes = tuple(part.shape for part in weights)
        if shapes != ((tags, tags), (tags,), (tags,)):
            raise GonieError(f"expected transitions (K, K), start (K,) and end (K,), got {shapes}")
        if not all(np.isfinite(part).all() for part in weights):
            raise GonieError(
                "the transition scores contain nan or infinity, because training diverged. "
                "Train again with a lower learning rate (train.lr) or stronger gradient clipping (train.clip)"
            )
        if allowed is not None:
            for part, mask in zip(weights, allowed, strict=True):
                part[~np.asarray(mask, dtype=bool)] = -np.inf
        self.transitions, self.start, self.end = weights
        self.num_tags = tags
        self.temperature = 1.0
        """What the weights are divided by, and what emissions must be divided by."""
        self.independent = not any(part.any() for part in weights)
        """Whether tags do not depend on each other, as in a softmax model: no weight, nothing forbidden."""

    def tempered(self, temperature: float) -> ChainWeights:
        """Return the chain at a temperature. Its weights are divided by it, and it divides the emissions."""
        if not 0 < temperature < np.inf:
            raise GonieError(f"the temperature must be positive and finite, got {temperature}")
        if temperature == 1:
            return self
        chain = copy(self)
        chain.transitions, chain.start, chain.end = (
            part / temperature for part in (self.transitions, self.start, self.end)
        )
        chain.temperature = self.temperature * temperature
        return chain

    def step_scores(self, emissions: NDArray[np.floating], lengths: Ints, tags: Ints) -> Floats:
        """Return what each token adds to the score of the path ``tags``, without start and end.

        The emissions are those of the model. They are divided by the temperature here.

        Shape: emissions (B, T, K), lengths (B,), tags (B, T) -> (B, T), 0 past the end
        """
        inside = np.arange(emissions.shape[1]) < lengths[:, None]  # (B, T)
        chosen = np.where(inside, tags, 0)
        rows, times = np.ogrid[: emissions.shape[0], : emissions.shape[1]]
        steps = emissions[rows, times, chosen].astype(np.float64)  # (B, T)
        if self.temperature != 1:
            steps /= self.temperature
        steps[:, 1:] += self.transitions[chosen[:, :-1], chosen[:, 1:]]
        return np.where(inside, steps, 0.0)

    def path_scores(self, emissions: NDArray[np.floating], lengths: Ints, tags: Ints) -> Floats:
        """Return the score s(y) of the given tags of every sentence: (B, T, K), (B,), (B, T) -> (B,)."""
        last = tags[np.arange(len(lengths)), lengths - 1]  # (B,)
        inner = self.step_scores(emissions, lengths, tags).sum(axis=1)
        return np.asarray(self.start[tags[:, 0]] + inner + self.end[last])

    def require_path(self, best: NDArray[np.floating], lengths: Ints) -> None:
        """Raise an error if a best score (B,) is minus infinity, so that every tag sequence is forbidden."""
        stuck = np.flatnonzero(np.isneginf(best))
        if stuck.size:
            raise GonieError(
                f"no tag sequence is allowed for a sentence of {lengths[stuck[0]]} tokens, because the label "
                "set lacks tags that its scheme needs. Complete the labels, or set "
                "model.head.constrained = false"
            )
