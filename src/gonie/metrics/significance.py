"""A significance test between two models on the same sentences.

The paired approximate randomisation test (Noreen 1989; for F1, Yeh 2000) assumes that both models are equally
good. Then it does not matter which of them made which prediction. The test swaps the two predictions of each
sentence at random, scores both sides again, and counts how often they differ at least as much as observed:

    p = (1 + #{|d*| ≥ |d|}) / (1 + R)

Whole sentences are swapped because errors within a sentence are correlated. All seeds of a model are swapped
together because their errors are correlated too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gonie.metrics.aligned import Aligned, align_spans
from gonie.metrics.bootstrap import CELLS, Floats
from gonie.metrics.class_errors import Labelled
from gonie.metrics.spans import read_spans
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

SHUFFLES = 10_000
TINY = 1e-12
"""Differences smaller than this are rounding errors."""


@dataclass(frozen=True)
class Tally:
    """The counts of one set of predictions, sentence by sentence.

    ``counts`` (N, 3) holds gold, predicted and correct spans. For plain tags every token is a span, and F1 is
    accuracy. ``data`` is a digest of the sentences: tallies over different sentences cannot be paired.
    ``unreachable`` is the number of gold spans that tags cannot express. They count as missed.
    """

    data: str
    counts: npt.NDArray[np.int64]  # (N, 3)
    unreachable: int = 0

    @classmethod
    def from_tags(
        cls, sentences: Sequence[Sentence], predicted: Sequence[Sequence[str]], scheme: Scheme
    ) -> Tally:
        """Count the spans of gold and predicted tags, both in ``scheme``."""
        spans = (
            (each, read_spans(each.tags or (), scheme), read_spans(tags, scheme))
            for each, tags in zip(sentences, predicted, strict=True)
        )
        aligned = [align_spans(*each) if scheme.has_spans else Aligned(*each) for each in spans]
        # Characters, and not words, identify the sentences, so that models of several units can be paired.
        counted = cls._count(
            ((each.sentence.surface, sorted(each.gold_characters())), set(each.gold), set(each.predicted))
            for each in aligned
        )
        return replace(counted, unreachable=sum(len(each.unreachable()) for each in aligned))

    @classmethod
    def from_labels(cls, texts: Sequence[Labelled], predicted: Sequence[Sequence[str]]) -> Tally:
        """Count the labels of texts. For single-label texts F1 is accuracy."""
        return cls._count(
            ((text.text, sorted(text.labels)), set(text.labels), set(labels))
            for text, labels in zip(texts, predicted, strict=True)
        )

    @classmethod
    def _count(cls, answers: Iterable[tuple[object, set[Any], set[Any]]]) -> Tally:
        """Count (input with its gold, gold, predicted) triples."""
        digest, rows = hashlib.sha256(), []
        for asked, truth, guess in answers:
            rows.append((len(truth), len(guess), len(truth & guess)))
            digest.update(json.dumps(asked).encode())
        return cls(digest.hexdigest()[:16], np.array(rows, dtype=np.int64).reshape(-1, 3))

    @property
    def f1(self) -> float:
        """F1 over all sentences."""
        return float(_f1(self.counts.sum(axis=0, dtype=np.float64)))


def combine_tallies(tallies: Sequence[Tally]) -> Tally:
    """Combine several runs: sum per sentence where the data is the same, concatenate otherwise."""
    sums: dict[str, npt.NDArray[np.int64]] = {}
    for tally in tallies:
        sums[tally.data] = sums[tally.data] + tally.counts if tally.data in sums else tally.counts
    return Tally("+".join(tally.data for tally in tallies), np.concatenate(list(sums.values())))


def randomization_test(one: Tally, other: Tally, *, shuffles: int = SHUFFLES, seed: int = 0) -> float | None:
    """Return the two-sided p-value that both are equally good, or None if their data differ.

    Swapping moves whole rows, so the counts of one side are (Σ (a + b) + Σ ±(a - b)) / 2. The first sum is
    the same in every shuffle. The second needs only the sentences where the two differ.
    """
    if one.data != other.data:
        return None
    difference = (one.counts - other.counts).astype(np.float64)  # (N, 3)
    difference = difference[difference.any(axis=1)]  # (M, 3)
    both = (one.counts + other.counts).sum(axis=0, dtype=np.float64)  # (3,)
    seen = _gap(both, difference.sum(axis=0))
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // max(1, len(difference)))
    as_far = 0
    for top in range(0, shuffles, rows):
        shape = (min(rows, shuffles - top), len(difference))
        signs = 2.0 * generator.integers(0, 2, size=shape, dtype=np.int8) - 1.0  # (rows, M)
        as_far += int(np.count_nonzero(_gap(both, signs @ difference) >= seen - TINY))
    return (1 + as_far) / (1 + shuffles)


def _gap(both: Floats, difference: Floats) -> Floats:
    """Return the gap in F1 of two sides, given the sum (3,) and the difference (…, 3) of their counts."""
    return np.abs(_f1((both + difference) / 2) - _f1((both - difference) / 2))


def _f1(counts: Floats) -> Floats:
    """Map (…, 3) gold, predicted, correct to F1 (…), 0 where the denominator is 0, as in conlleval."""
    gold, predicted, correct = np.moveaxis(counts, -1, 0)
    scores = np.zeros(np.shape(correct))
    np.divide(2 * correct, gold + predicted, out=scores, where=gold + predicted > 0)
    return scores
