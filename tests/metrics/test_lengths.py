"""Scores by text length: if these break, the table is wrong about long texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.counts import Counts
from gonie.metrics.lengths import FIRST, length_scores


def counts(right: list[bool]) -> np.ndarray:
    return np.array([(1, 1, int(each)) for each in right], dtype=np.int64).reshape(-1, 3)


def test_scores_by_length_of_a_small_example() -> None:
    found = length_scores([0, 5, 6, 10, 81], counts([True, False, True, True, False]))
    assert [(score.low, score.high, score.texts) for score in found] == [(0, 5, 2), (6, 10, 2), (81, 160, 1)]
    assert [score.counts.f1 for score in found] == [0.5, 1.0, 0.0]
    assert found[0].to_json() == {
        "low": 0, "high": 5, "texts": 2, "gold": 2, "predicted": 2, "correct": 1,
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "interval": None,
    }  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3000), st.booleans()), min_size=1, max_size=40))
def test_every_text_is_in_the_bin_of_its_length(texts: list[tuple[int, bool]]) -> None:
    lengths, right = zip(*texts, strict=True)
    found = length_scores(lengths, counts(list(right)))
    assert sum(score.texts for score in found) == len(texts)
    for score in found:
        inside = [each for length, each in texts if score.low <= length <= score.high]
        assert (score.texts, score.counts) == (
            len(inside),
            Counts(len(inside), len(inside), sum(inside)),
        )
        assert score.high % FIRST == 0
    assert [score.low for score in found] == sorted(score.low for score in found)


def test_several_labels_are_scored_by_f1() -> None:
    (score,) = length_scores([3, 4], np.array([[2, 1, 1], [0, 1, 0]]))
    assert score.counts == Counts(2, 2, 1)


def test_the_interval_equals_that_of_rescored_resamples() -> None:
    generator = np.random.default_rng(0)
    lengths, right = generator.integers(1, 12, size=40), generator.random(40) < 0.5
    found = length_scores(lengths, counts(list(right)), resamples=60, seed=2)
    drawn = np.random.default_rng(2).integers(0, 40, size=(60, 40))
    for score in found:
        inside = (score.low <= lengths) & (lengths <= score.high)
        again = [right[row][inside[row]].mean() for row in drawn if inside[row].any()]
        assert score.interval == pytest.approx(np.percentile(again, [2.5, 97.5]))


def test_a_bin_of_one_text_is_scored_without_an_interval() -> None:
    one, two = length_scores([1, 9, 9], counts([True, True, True]), resamples=5)
    assert (one.counts.f1, one.interval) == (1.0, None)
    assert two.interval == pytest.approx((2 / (2 + 1.959964**2), 1.0))
