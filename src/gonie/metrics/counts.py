"""The counts that all scores are computed from.

A score is a function of three sums: gold, predicted and correct. Per-sentence sums can be resampled for a
bootstrap. ``Counts`` is one triple of sums, ``SentenceCounts`` a sparse table of counts per sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


def ratio(numerator: float, denominator: float) -> float:
    """Return numerator / denominator, or 0 if the denominator is 0, as in conlleval."""
    return numerator / denominator if denominator else 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of gold, predicted and correct items."""

    gold: int = 0
    predicted: int = 0
    correct: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.gold + other.gold, self.predicted + other.predicted, self.correct + other.correct)

    @property
    def precision(self) -> float:
        """correct / predicted, or 0 if nothing was predicted."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """correct / gold, or 0 if there is no gold."""
        return ratio(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """2PR / (P + R) = 2 correct / (gold + predicted)."""
        return ratio(2 * self.correct, self.gold + self.predicted)

    def to_json(self) -> dict[str, float | int]:
        """Return fractions and counts by name."""
        return {
            "f1": self.f1,
            "precision": self.precision,
            "recall": self.recall,
            "gold": self.gold,
            "predicted": self.predicted,
            "correct": self.correct,
        }


@dataclass(frozen=True)
class SentenceCounts:
    """A sparse table (sentences, columns) of counts. 50,000 sentences and 1,000 labels would not fit densely.

    Entry e says that sentence ``sentences[e]`` has ``values[e]`` items of column ``columns[e]``. Entries of
    the same cell add up.
    """

    sentences: npt.NDArray[np.int64]  # (E,)
    columns: npt.NDArray[np.int64]  # (E,)
    values: npt.NDArray[np.int64]  # (E,)
    shape: tuple[int, int]  # (N, C)

    @classmethod
    def from_events(
        cls, events: Iterable[tuple[int, int, int]], *, sentences: int, columns: int
    ) -> SentenceCounts:
        """Build the table from (sentence, column, value) triples."""
        table = np.array(list(events), dtype=np.int64).reshape(-1, 3)  # (E, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2], (sentences, columns))

    @classmethod
    def from_table(cls, table: npt.NDArray[np.int64]) -> SentenceCounts:
        """Build the table from a dense table, (N, C)."""
        sentences, columns = np.indices(table.shape)
        return cls(sentences.ravel(), columns.ravel(), table.ravel(), (table.shape[0], table.shape[1]))

    @classmethod
    def hstack(cls, parts: Sequence[SentenceCounts]) -> SentenceCounts:
        """Concatenate tables over the same sentences column-wise, in the order of ``parts``."""
        starts = np.cumsum([0, *(part.shape[1] for part in parts)])
        return cls(
            np.concatenate([part.sentences for part in parts]),
            np.concatenate([part.columns + start for part, start in zip(parts, starts[:-1], strict=True)]),
            np.concatenate([part.values for part in parts]),
            (parts[0].shape[0], int(starts[-1])),
        )

    def total(self) -> npt.NDArray[np.int64]:
        """Return the sum over sentences, (C,)."""
        sums = np.bincount(self.columns, weights=self.values, minlength=self.shape[1])
        return sums.astype(np.int64)

    def rows(self, first: int, last: int) -> npt.NDArray[np.float64]:
        """Return sentences first..last-1 as a dense table, (last - first, C)."""
        chosen = (self.sentences >= first) & (self.sentences < last)
        part = (self.sentences[chosen] - first, self.columns[chosen], self.values[chosen])
        return SentenceCounts(*part, (last - first, self.shape[1])).dense(0, self.shape[1])

    def dense(self, first: int, last: int) -> npt.NDArray[np.float64]:
        """Return columns first..last-1 as a dense table, (N, last - first)."""
        width = last - first
        chosen = (self.columns >= first) & (self.columns < last)
        cells = self.sentences[chosen] * width + self.columns[chosen] - first
        flat = np.bincount(cells, weights=self.values[chosen], minlength=self.shape[0] * width)
        return flat.astype(np.float64).reshape(self.shape[0], width)
