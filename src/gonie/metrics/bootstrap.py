"""Bootstrap confidence intervals over sentences.

The sentence bootstrap (Efron 1979; for tagging, Koehn 2004) draws as many sentences as the file has, with
replacement, and scores them. It repeats this and takes the middle 95% of the scores. It draws sentences, not
tokens or spans, because errors within a sentence are correlated. A score must be a function of summed counts,
so that a resample is one row of a matrix product and needs no second pass over the corpus.

If every sentence is right, every resample is too, and so with every sentence wrong. Such an interval would
have no width. Wilson's (1927) takes its place, for n of n sentences: from n / (n + z²) to 1, with z = 1.96.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from gonie.metrics.counts import SentenceCounts

Floats = npt.NDArray[np.float64]

CELLS = 4_000_000
"""The maximum number of table cells in memory at once (32 MB)."""


def resampled_sums(counts: SentenceCounts, *, resamples: int, seed: int) -> Floats:
    """Return the summed counts of each resample, (R, C).

    sums[r] = Σ_n w[r, n] · counts[n], where w[r, n] is how often resample r drew sentence n.
    """
    sentences, columns = counts.shape
    sums = np.empty((resamples, columns))  # (R, C)
    width, top = max(1, CELLS // sentences), 0
    for weights in draws(sentences, resamples=resamples, seed=seed):  # (rows, N)
        for left in range(0, columns, width):
            right = min(columns, left + width)
            sums[top : top + len(weights), left:right] = weights @ counts.dense(left, right)
        top += len(weights)
    return sums


def draws(sentences: int, *, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how often each resample drew each sentence, in blocks (rows, N) of at most CELLS cells.

    The same seed gives the same draws, so scores that are summed in different ways use the same resamples.
    """
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // sentences)
    for top in range(0, resamples, rows):
        yield _draw(generator, rows=min(rows, resamples - top), sentences=sentences)


def _draw(generator: np.random.Generator, *, rows: int, sentences: int) -> Floats:
    """Return how often each row drew each sentence, (rows, N). Every row sums to N."""
    drawn = generator.integers(0, sentences, size=(rows, sentences))  # (rows, N)
    drawn += sentences * np.arange(rows)[:, None]
    times = np.bincount(drawn.ravel(), minlength=rows * sentences)
    return times.reshape(rows, sentences).astype(np.float64)


def percentiles(scores: Floats, *, level: float = 0.95) -> Floats:
    """Return the middle ``level`` of each column of scores (R, S) as (S, 2): low and high.

    Resamples where a score is undefined (nan: that type was not drawn) are ignored. A column that is
    undefined everywhere gives (0, 0). Values between two resamples are interpolated linearly, as in
    numpy.percentile.
    """
    ordered = np.sort(scores, axis=0)  # nan sorts last
    last = np.count_nonzero(~np.isnan(scores), axis=0) - 1  # (S,)
    ends = np.array([(1 - level) / 2, (1 + level) / 2])  # (2,)
    place = np.maximum(last, 0)[:, None] * ends  # (S, 2)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(last, 0)[:, None])
    column = np.arange(scores.shape[1])[:, None]  # (S, 1)
    low, high = ordered[below, column], ordered[above, column]  # (S, 2)
    return np.where(last[:, None] >= 0, low + (place - below) * (high - low), 0.0)


def intervals(
    counts: SentenceCounts,
    score: Callable[[Floats], Floats],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Floats:
    """Return intervals (S, 2) of ``score``, which maps summed counts (R, C) to scores (R, S)."""
    found = percentiles(score(resampled_sums(counts, resamples=resamples, seed=seed)), level=level)
    return widened(found, _sentences_of(counts, score), level=level)


def widened(found: Floats, sentences: Floats, *, level: float = 0.95) -> Floats:
    """Return intervals (S, 2), with Wilson's in place of those from 0 to 0 and from 1 to 1.

    ``sentences`` (S,) is the number of sentences that each score comes from. Scores of none are undefined and
    stay as they are.
    """
    squared = NormalDist().inv_cdf((1 + level) / 2) ** 2
    width = np.where(sentences > 0, squared / (sentences + squared), 0.0)  # (S,)
    low, high = found.T
    return np.stack([np.where(low == 1, 1 - width, low), np.where(high == 0, width, high)], axis=1)  # (S, 2)


def _sentences_of(counts: SentenceCounts, score: Callable[[Floats], Floats]) -> Floats:
    """Return the number of sentences for which each score is defined, each on its own, (S,)."""
    sentences, columns = counts.shape
    rows = max(1, CELLS // max(1, columns))
    blocks = (counts.rows(top, min(sentences, top + rows)) for top in range(0, sentences, rows))
    found: Floats = np.sum([np.count_nonzero(~np.isnan(score(block)), axis=0) for block in blocks], axis=0)
    return found
