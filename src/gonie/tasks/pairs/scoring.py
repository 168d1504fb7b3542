"""Score a pair model on pairs with gold answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from gonie.errors import InputError
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.pairs.values import ValueEvaluation, evaluate_values
from gonie.text.labelled_text import LabelledPair

PairEvaluation: TypeAlias = ClassEvaluation | ValueEvaluation


def score_pairs(
    pairs: Sequence[LabelledPair],
    answers: Sequence[PairAnswer],
    *,
    labels: Sequence[str],
    values: bool,
    bootstrap: int = 1000,
) -> PairEvaluation:
    """Compare predictions with gold labels, or with ``values`` numbers. ``labels`` are those of the model."""
    check_answers(pairs, values=values)
    if values:
        found = [answer.value for answer in answers if answer.value is not None]
        return evaluate_values(pairs, found, bootstrap=bootstrap)
    return evaluate_classes(
        pairs,
        [answer.labels for answer in answers],
        [[answer.scores[label] for label in labels] for answer in answers],
        labels,
        lengths=[answer.tokens for answer in answers],
        bootstrap=bootstrap,
    )


def check_answers(pairs: Sequence[LabelledPair], *, values: bool, advice: str = "") -> None:
    """Raise InputError for a file of labels where the model gives values, or the reverse.

    ``advice`` says how to name the column of the gold answer.
    """
    for pair in pairs:
        if (pair.value is None) == values:
            own, other = ("values", "labels") if values else ("labels", "values")
            raise InputError(
                f"the pairs have {other}, but the model gives {own}",
                path=pair.path or None,
                fix=f"Name the column of the {own}: {advice}" if advice else "",
            )
