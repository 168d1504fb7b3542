"""The official score of SemEval-2010 task 8, relations between two marked nominals (Hendrickx et al. 2010).

Labels are a relation with its direction, ``Cause-Effect(e1,e2)``, or ``Other``. A relation counts as gold and
as predicted in either direction, and as correct only with the right one; the score is the mean of F1 over
the relations that gold has. ``Other`` is no relation: it is left out of the mean, but taking it for one, or
one for it, still costs precision or recall.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from gonie.metrics.bootstrap import Floats, intervals
from gonie.metrics.intervals import Interval, divide, precision_recall_f1
from gonie.metrics.spans import SpanScores, span_counts
from gonie.text.schemes import TokenSpan

OTHER = "Other"
_DIRECTED = re.compile(r"(.+)\(e([12]),e([12])\)")


@dataclass(frozen=True)
class RelationScores:
    """The counts of each relation of gold, and the interval of their macro F1 where it was asked for."""

    relations: SpanScores
    interval: Interval | None

    @property
    def f1(self) -> float:
        """The official score."""
        return self.relations.macro.f1

    def to_json(self) -> dict[str, object]:
        """Fractions and counts by relation."""
        macro = self.relations.macro
        return {
            "f1": macro.f1,
            "precision": macro.precision,
            "recall": macro.recall,
            "types": {name: counts.to_json() for name, counts in self.relations.types.items()},
        }


def are_relations(labels: Collection[str]) -> bool:
    """Are these labels of task 8's kind: every one a relation with its direction, but for Other?"""
    named = [label for label in labels if label != OTHER]
    return bool(named) and all(_DIRECTED.fullmatch(label) for label in named)


def relation_scores(
    gold: Sequence[str], predicted: Sequence[str], *, resamples: int = 0, seed: int = 0
) -> RelationScores:
    """Score one label a text; ``resamples`` is for the interval, 0 for none."""
    truth, guess = [_spans(label) for label in gold], [_spans(label) for label in predicted]
    due = {relation for spans in truth for _, _, relation in spans}
    # The official scorer takes a relation that gold never has for Other.
    guess = [[span for span in spans if span[2] in due] for spans in guess]
    scores = SpanScores.from_spans(truth, guess)
    if not resamples or not due:
        return RelationScores(scores, None)
    counts = span_counts(truth, guess, list(scores.types))
    low, high = intervals(counts, _macro_f1, resamples=resamples, seed=seed)[0]
    return RelationScores(scores, (float(low), float(high)))


def _spans(label: str) -> list[TokenSpan]:
    """A relation as a span from one entity to the other, so that another direction is another place."""
    found = _DIRECTED.fullmatch(label)
    return [] if found is None else [(int(found[2]), int(found[3]), found[1])]


def _macro_f1(sums: Floats) -> Floats:
    """Summed counts (R, 3L) to the mean F1 over the relations that each resample has in gold, (R, 1)."""
    counts = sums.reshape(len(sums), -1, 3)  # (R, L, 3)
    due = counts[:, :, 0] > 0  # (R, L)
    scores = np.nan_to_num(precision_recall_f1(counts)[:, :, 2])  # (R, L)
    return divide((scores * due).sum(axis=1, keepdims=True), due.sum(axis=1, keepdims=True))
