"""The official score of SemEval-2010 task 8, relations between two marked nominals (Hendrickx et al. 2010).

A label is a relation with a direction, ``Cause-Effect(e1,e2)``, or ``Other``. A relation counts as gold and
as predicted in either direction, but as correct only with the right direction. The score is the mean F1 over
the relations in gold. ``Other`` is not a relation and is left out of the mean. Confusing it with a relation
still costs precision or recall.
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
    """The counts of each gold relation, and the interval of their macro F1 if computed."""

    relations: SpanScores
    interval: Interval | None

    @property
    def f1(self) -> float:
        """The official score."""
        return self.relations.macro.f1

    def to_json(self) -> dict[str, object]:
        """Return fractions and counts by relation."""
        macro = self.relations.macro
        return {
            "f1": macro.f1,
            "precision": macro.precision,
            "recall": macro.recall,
            "types": {name: counts.to_json() for name, counts in self.relations.types.items()},
        }


def are_relations(labels: Collection[str]) -> bool:
    """Return whether all labels except Other are relations with a direction, as in task 8."""
    named = [label for label in labels if label != OTHER]
    return bool(named) and all(_DIRECTED.fullmatch(label) for label in named)


def relation_scores(
    gold: Sequence[str], predicted: Sequence[str], *, resamples: int = 0, seed: int = 0
) -> RelationScores:
    """Score one label per text. ``resamples`` is for the bootstrap interval; 0 computes none."""
    truth, guess = [_spans(label) for label in gold], [_spans(label) for label in predicted]
    due = {relation for spans in truth for _, _, relation in spans}
    # The official scorer treats a relation that does not occur in gold as Other.
    guess = [[span for span in spans if span[2] in due] for spans in guess]
    scores = SpanScores.from_spans(truth, guess)
    if not resamples or not due:
        return RelationScores(scores, None)
    counts = span_counts(truth, guess, list(scores.types))
    low, high = intervals(counts, _macro_f1, resamples=resamples, seed=seed)[0]
    return RelationScores(scores, (float(low), float(high)))


def _spans(label: str) -> list[TokenSpan]:
    """Return a relation as a span between its entities, so that a different direction is a different span."""
    found = _DIRECTED.fullmatch(label)
    return [] if found is None else [(int(found[2]), int(found[3]), found[1])]


def _macro_f1(sums: Floats) -> Floats:
    """Map summed counts (R, 3L) to the mean F1 over the gold relations of each resample, (R, 1)."""
    counts = sums.reshape(len(sums), -1, 3)  # (R, L, 3)
    due = counts[:, :, 0] > 0  # (R, L)
    scores = np.nan_to_num(precision_recall_f1(counts)[:, :, 2])  # (R, L)
    return divide((scores * due).sum(axis=1, keepdims=True), due.sum(axis=1, keepdims=True))
