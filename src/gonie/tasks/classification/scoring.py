"""Scoring a classifier on texts with gold labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Classification

MAJORITY = "always the most frequent label"
"""The name of the baseline."""

Classify = Callable[[Iterable[LabelledText]], Iterable[Classification]]


def score_texts(
    texts: Iterable[LabelledText],
    classify: Classify,
    *,
    labels: Sequence[str],
    multi_label: bool,
    bootstrap: int = 1000,
) -> ClassEvaluation:
    """Score the predictions of ``classify`` for ``texts``. ``labels`` are all labels of the model.

    Scores by length use the number of tokens that the model reads. ``bootstrap`` is the number of resamples;
    0: no intervals.
    """
    gold = list(texts)
    found = list(classify(gold))
    return evaluate_classes(
        gold,
        [given.labels for given in found],
        [[given.scores[label] for label in labels] for given in found],
        labels,
        multi_label=multi_label,
        lengths=[given.tokens for given in found],
        bootstrap=bootstrap,
    )
