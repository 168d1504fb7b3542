"""If these break, a score of SemEval-2010 task 8 cannot be compared with published ones."""

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


def test_hand_counted_file() -> None:
    """Cause-Effect: gold 3, given 4, with its direction 2; Component-Whole: gold 3, given 2, right 1.

    F1 is 2·2/(3+4) = 4/7 and 2·1/(3+2) = 2/5, and their mean 17/35.
    """
    found = relation_scores(GOLD, PREDICTED)
    assert found.relations.types == {"Cause-Effect": Counts(3, 4, 2), "Component-Whole": Counts(3, 2, 1)}
    assert found.f1 == pytest.approx(17 / 35)
    data = found.to_json()
    assert data["precision"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert data["recall"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.interval is None


def test_the_wrong_direction_is_wrong_on_both_sides() -> None:
    found = relation_scores([CAUSE], [EFFECT])
    assert found.relations.types == {"Cause-Effect": Counts(1, 1, 0)}


def test_a_relation_that_gold_never_has_counts_as_other() -> None:
    found = relation_scores([CAUSE, "Other"], [CAUSE, PART])
    assert found.f1 == 1.0
    assert list(found.relations.types) == ["Cause-Effect"]


@pytest.mark.parametrize("predicted", [["Other"], [CAUSE]])
def test_a_file_of_other_alone_has_a_score_of_zero(predicted: list[str]) -> None:
    found = relation_scores(["Other"], predicted, resamples=10)
    assert (found.f1, found.interval) == (0.0, None)


def test_the_interval_is_that_of_scoring_every_resample_anew() -> None:
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
def test_only_labels_of_its_kind_are_scored_so(labels: set[str], expected: bool) -> None:
    assert are_relations(labels) is expected
