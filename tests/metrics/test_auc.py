"""Area under the ROC curve, compared with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from gonie.metrics.auc import Ranking

TEXTS = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.50001, 0.9, 1.0]), st.booleans()), min_size=1)


def ranking(pairs: list[tuple[float, bool]]) -> Ranking:
    scores, positive = zip(*pairs, strict=True)
    return Ranking(scores=np.array(scores), positive=np.array(positive))


def pair_by_pair(pairs: list[tuple[float, bool]]) -> float | None:
    won = [
        1.0 if one > other else 0.5 if one == other else 0.0
        for one, positive in pairs
        if positive
        for other, negative in pairs
        if not negative
    ]
    return sum(won) / len(won) if won else None


@settings(deadline=None)
@given(TEXTS)
def test_area_equals_pairwise_comparison_and_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    area = ranking(pairs).area
    if area is None:
        assert pair_by_pair(pairs) is None
    else:
        scores, positive = zip(*pairs, strict=True)
        assert area == pytest.approx(pair_by_pair(pairs))
        assert area == pytest.approx(roc_auc_score(positive, scores))


def test_area_of_known_rankings() -> None:
    assert ranking([(0.1, False), (0.9, True)]).area == 1.0
    assert ranking([(0.9, False), (0.1, True)]).area == 0.0
    assert ranking([(0.5, False), (0.5, True), (0.5, True)]).area == 0.5


@pytest.mark.parametrize("pairs", [[(0.3, True)], [(0.3, False), (0.6, False)]])
def test_a_single_class_has_no_area(pairs: list[tuple[float, bool]]) -> None:
    assert ranking(pairs).area is None


def test_the_interval_equals_that_of_rescored_resamples() -> None:
    generator = np.random.default_rng(1)
    positive = generator.random(30) < 0.4
    scores = np.round(generator.random(30) + 0.3 * positive, 1)  # with ties
    drawn = np.random.default_rng(8).integers(0, 30, size=(60, 30))
    again = [roc_auc_score(positive[row], scores[row]) for row in drawn]
    found = Ranking(scores=scores, positive=positive).interval(resamples=60, seed=8)
    assert found == pytest.approx(np.percentile(again, [2.5, 97.5]))


def test_resamples_without_one_class_are_left_out() -> None:
    assert ranking([(0.1, False), (0.9, True)]).interval(resamples=50, seed=0) == pytest.approx(
        (0.2065, 1), abs=1e-4
    )
