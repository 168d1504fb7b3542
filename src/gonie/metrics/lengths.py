"""Scores by text length, because a weak pooling or encoder often fails on long texts.

The bounds double (5, 10, 20 … tokens) and do not depend on the texts, so tables of two models or two corpora
can be compared directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats, intervals
from gonie.metrics.counts import Counts, SentenceCounts
from gonie.metrics.intervals import Interval, precision_recall_f1

FIRST = 5
"""The maximum number of tokens in the first bin."""


@dataclass(frozen=True, slots=True)
class LengthScore:
    """The texts of ``low`` to ``high`` tokens: how many, and the counts of their labels.

    Their score is F1 over labels, which equals accuracy for single-label texts.
    """

    low: int
    high: int
    texts: int
    counts: Counts
    interval: Interval | None

    def to_json(self) -> dict[str, object]:
        """Return fractions and counts."""
        return {
            "low": self.low,
            "high": self.high,
            "texts": self.texts,
            **self.counts.to_json(),
            "interval": None if self.interval is None else list(self.interval),
        }


def length_scores(
    lengths: Sequence[int], counts: npt.NDArray[np.int64], *, resamples: int = 0, seed: int = 0
) -> tuple[LengthScore, ...]:
    """Score the texts of each length, short ones first, without empty bins.

    ``lengths`` is tokens per text (N). ``counts`` (N, 3) holds gold, predicted and correct labels. A bin of
    one text has no interval.
    """
    highs = FIRST * 2 ** np.arange(max(1, int(max(lengths, default=0)).bit_length()), dtype=np.int64)
    bins, place = np.unique(np.searchsorted(highs, lengths, side="left"), return_inverse=True)  # (G,), (N,)
    table = _table(place, counts, len(bins))
    sums = table.total().reshape(-1, 3)  # (G, 3)
    pairs: list[Interval | None] = [None] * len(bins)
    if resamples:
        found = intervals(table, _f1, resamples=resamples, seed=seed)  # (G, 2)
        pairs = [(float(low), float(high)) for low, high in found]
    sizes = np.bincount(place, minlength=len(bins))  # (G,)
    return tuple(
        LengthScore(
            low=int(highs[at - 1]) + 1 if at else 0,
            high=int(highs[at]),
            texts=int(sizes[group]),
            counts=Counts(*map(int, sums[group])),
            interval=pairs[group] if sizes[group] > 1 else None,
        )
        for group, at in enumerate(bins)
    )


def _table(place: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], bins: int) -> SentenceCounts:
    """Return the counts of each text in the columns of its bin, (N, 3 · bins)."""
    texts = len(counts)
    return SentenceCounts(
        np.repeat(np.arange(texts), 3),
        (3 * place[:, None] + np.arange(3)).ravel(),
        counts.ravel(),
        (texts, 3 * bins),
    )


def _f1(sums: Floats) -> Floats:
    """Map summed counts (R, 3G) to the F1 of each bin, (R, G)."""
    return precision_recall_f1(sums.reshape(len(sums), -1, 3))[:, :, 2]
