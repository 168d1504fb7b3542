"""The official score of SemEval-2010 task 8: it must be comparable with published scores."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gonie.metrics.counts import Counts
from gonie.metrics.relations import are_relations, relation_scores

CAUSE, EFFECT, PART, WHOLE = (
    "Cause-Effect(e1,e2)",
    "Cause-Effect(e2,e1)",
    "Component-Whole(e1,e2)",
    "Component-Whole(e2,e1)",
)
GOLD = [CAUSE, CAUSE, EFFECT, PART, PART, WHOLE, "Other", "Other"]
PREDICTED = [CAUSE, EFFECT, EFFECT, PART, CAUSE, "Other", WHOLE, "Other"]


def test_scores_of_a_small_example() -> None:
    """Cause-Effect: gold 3, predicted 4, correct 2. Component-Whole: gold 3, predicted 2, correct 1.

    F1 is 2·2/(3+4) = 4/7 and 2·1/(3+2) = 2/5; their mean is 17/35.
    """
    found = relation_scores(GOLD, PREDICTED)
    assert found.relations.types == {"Cause-Effect": Counts(3, 4, 2), "Component-Whole": Counts(3, 2, 1)}
    assert found.f1 == pytest.approx(17 / 35)
    data = found.to_json()
    assert data["precision"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert data["recall"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.interval is None


def test_a_wrong_direction_is_a_miss_and_a_false_positive() -> None:
    found = relation_scores([CAUSE], [EFFECT])
    assert found.relations.types == {"Cause-Effect": Counts(1, 1, 0)}


def test_a_predicted_relation_that_is_never_gold_counts_as_other() -> None:
    found = relation_scores([CAUSE, "Other"], [CAUSE, PART])
    assert found.f1 == 1.0
    assert list(found.relations.types) == ["Cause-Effect"]


@pytest.mark.parametrize("predicted", [["Other"], [CAUSE]])
def test_a_file_with_only_other_scores_zero(predicted: list[str]) -> None:
    found = relation_scores(["Other"], predicted, resamples=10)
    assert (found.f1, found.interval) == (0.0, None)


def test_the_interval_equals_that_of_rescored_resamples() -> None:
    chance = random.Random(4)
    gold = [chance.choice(GOLD) for _ in range(40)]
    predicted = [label if chance.random() < 0.6 else chance.choice(GOLD) for label in gold]
    drawn = np.random.default_rng(3).integers(0, 40, size=(50, 40))
    again = [relation_scores([gold[n] for n in row], [predicted[n] for n in row]).f1 for row in drawn]
    found = relation_scores(gold, predicted, resamples=50, seed=3).interval
    assert found == pytest.approx(np.percentile(again, [2.5, 97.5]))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({CAUSE, WHOLE, "Other"}, True),
        ({CAUSE}, True),
        ({"Other"}, False),
        (set(), False),
        ({CAUSE, "sentiment"}, False),
        ({"positive", "negative"}, False),
        ({"(e1,e2)"}, False),
    ],
)
def test_relation_labels_are_recognised(labels: set[str], expected: bool) -> None:
    assert are_relations(labels) is expected
