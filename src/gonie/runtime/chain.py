"""The weights of a linear chain, with what the tag scheme forbids already impossible.

A sentence of n tokens with emissions e and tags y has the score

    s(y) = start[y_1] + sum_t e[t, y_t] + sum_t transitions[y_(t-1), y_t] + end[y_n],    p(y) = exp s(y) / Z.

A softmax model is the same chain with zero transitions. Letters in this folder: B sentences, T tokens in the
longest of them, K tags.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.errors import GonieError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LARGEST = 1 << 22  # numbers that a step over many tags may hold at once, unless one sentence takes more

Allowed = tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]


def together(numbers: int) -> int:
    """How many at a time, where a step takes so many ``numbers`` for each: one, or as many as fit."""
    return max(1, LARGEST // numbers)


class ChainWeights:
    """``transitions`` (K, K) indexed [from, to], ``start`` (K,) and ``end`` (K,) in float64.

    ``allowed`` holds boolean masks of the same three shapes; what they leave out weighs minus infinity.
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
                "expected finite transition scores, got nan or infinity: the model did not train soundly. "
                "Train again with a lower learning rate or clipped gradients."
            )
        if allowed is not None:
            for part, mask in zip(weights, allowed, strict=True):
                part[~np.asarray(mask, dtype=bool)] = -np.inf
        self.transitions, self.start, self.end = weights
        self.num_tags = tags

    def added(self, emissions: NDArray[np.floating], lengths: Ints, tags: Ints) -> Floats:
        """What each token adds to the score of its path ``tags``, start and end apart.

        Shape: emissions (B, T, K), lengths (B,), tags (B, T) -> (B, T), 0 past the end
        """
        inside = np.arange(emissions.shape[1]) < lengths[:, None]  # (B, T)
        chosen = np.where(inside, tags, 0)
        rows, times = np.ogrid[: emissions.shape[0], : emissions.shape[1]]
        steps = emissions[rows, times, chosen].astype(np.float64)  # (B, T)
        steps[:, 1:] += self.transitions[chosen[:, :-1], chosen[:, 1:]]
        return np.where(inside, steps, 0.0)

    def path_scores(self, emissions: NDArray[np.floating], lengths: Ints, tags: Ints) -> Floats:
        """The score s(y) of the given tags of every sentence: (B, T, K), (B,), (B, T) -> (B,)."""
        last = tags[np.arange(len(lengths)), lengths - 1]  # (B,)
        inner = self.added(emissions, lengths, tags).sum(axis=1)
        return np.asarray(self.start[tags[:, 0]] + inner + self.end[last])

    def need_a_path(self, best: NDArray[np.floating], lengths: Ints) -> None:
        """Refuse sentences whose best score (B,) is minus infinity: every tag sequence is forbidden."""
        stuck = np.flatnonzero(np.isneginf(best))
        if stuck.size:
            raise GonieError(
                f"expected a legal tag sequence for every sentence, got none for one of {lengths[stuck[0]]} "
                "tokens: the label set lacks tags that its scheme needs. Complete the labels, or decode "
                "without the scheme's constraints."
            )
