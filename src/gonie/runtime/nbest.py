"""The exact n best tag sequences of every sentence: Viterbi with the n best prefixes per tag."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gonie.runtime.chain import ChainWeights, Floats, Ints, chunk_size


def nbest(chain: ChainWeights, emissions: NDArray[np.floating], lengths: Ints, n: int) -> tuple[Ints, Floats]:
    """Return the n paths with the highest scores, best first.

    Every prefix of one of the n best paths is among the n best prefixes that end in the same tag, so n
    prefixes per tag suffice. The maximum of each step is subtracted and added again at the end, so long
    sentences lose no precision. The order of paths with equal scores is arbitrary but deterministic.

    Shape: emissions (B, T, K) finite, lengths (B,) -> tags (B, n, T), -1 past a sentence's end, and scores
    (B, n); -1 and minus infinity where a sentence has fewer than n paths.
    """
    some = chunk_size(chain.num_tags**2 * n)
    parts = [
        _nbest(chain, emissions[row : row + some], lengths[row : row + some], n)
        for row in range(0, max(len(emissions), 1), some)
    ]
    tags, scores = zip(*parts, strict=True)
    return np.concatenate(tags), np.concatenate(scores)


def _nbest(
    chain: ChainWeights, emissions: NDArray[np.floating], lengths: Ints, n: int
) -> tuple[Ints, Floats]:
    """Return the result of ``nbest`` for all sentences at once."""
    steps = emissions.transpose(1, 0, 2).astype(np.float64)  # (T, B, K)
    T, B, K = steps.shape
    best = np.full((B, K, n), -np.inf)  # entry (b, k, i): the i-th best prefix that ends in tag k
    best[:, :, 0] = chain.start + steps[0]
    taken = np.zeros((B, 1, 1))
    choices = np.empty((T, B, K * n), dtype=np.int64)  # the previous prefix of each prefix
    for t in range(1, T):
        reached = best[:, :, :, None] + chain.transitions[:, None, :]  # (B, from, n, to)
        found, choice = _largest(reached.reshape(B, K * n, K).transpose(0, 2, 1), n)  # (B, to, n) each
        found += steps[t][:, :, None]
        top = _top(found)
        going = t < lengths  # (B,)
        best = np.where(going[:, None, None], found - top, best)
        taken += np.where(going[:, None, None], top, 0.0)
        choices[t] = np.where(going[:, None], choice.reshape(B, K * n), np.arange(K * n))
    scores, last = _largest((best + chain.end[:, None]).reshape(B, K * n), n)  # (B, n) each
    tags = np.empty((B, n, T), dtype=np.int64)
    for t in range(T - 1, -1, -1):
        tags[:, :, t] = last // n
        last = np.take_along_axis(choices[t], last, axis=1) if t else last
    inside = np.arange(T) < lengths[:, None, None]  # (B, 1, T)
    tags[~(inside & np.isfinite(scores)[:, :, None])] = -1
    return tags, scores + taken[:, :, 0]


def _largest(values: Floats, n: int) -> tuple[Floats, Ints]:
    """Return the n largest values of the last axis, largest first, and their positions. Ties: first wins."""
    order = np.argsort(-values, axis=-1, kind="stable")[..., :n]
    return np.take_along_axis(values, order, axis=-1), order


def _top(prefixes: Floats) -> Floats:
    """Return the largest score of each sentence, 0 if there is none. Shape: (B, K, n) -> (B, 1, 1)."""
    top = prefixes.max(axis=(1, 2), keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)
