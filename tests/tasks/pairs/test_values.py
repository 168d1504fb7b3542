"""If these break, the reported correlations differ from those of NumPy and SciPy."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.metrics.bootstrap import draws
from gonie.tasks.pairs.values import correlation, evaluate_values, ranks
from gonie.text.labelled_text import LabelledPair

NUMBER = st.floats(-5, 5).map(lambda value: round(value, 3))
ROWS = st.lists(st.tuples(NUMBER, NUMBER), min_size=2, max_size=12)
"""Gold and predicted values, rounded to three digits so that some are equal."""


def pairs(gold: list[float]) -> list[LabelledPair]:
    return [LabelledPair(f"a {at}", f"b {at}", (), value, "f.tsv", at + 2) for at, value in enumerate(gold)]


def sides(rows: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [gold for gold, _ in rows], [guess for _, guess in rows]


@given(ROWS)
def test_pearson_matches_numpy_and_is_0_for_constant_values(rows: list[tuple[float, float]]) -> None:
    gold, guess = map(np.array, sides(rows))
    found = correlation(gold, guess)
    if np.ptp(gold) == 0 or np.ptp(guess) == 0:
        assert found == 0.0
    else:
        assert found == pytest.approx(np.corrcoef(gold, guess)[0, 1], abs=1e-6)
    assert -1.0 <= found <= 1.0


@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=10))
def test_tied_values_share_their_mean_rank(values: list[float]) -> None:
    wanted = [
        1 + sum(other < own for other in values) + (sum(other == own for other in values) - 1) / 2
        for own in values
    ]
    assert ranks(np.array(values)).tolist() == wanted


@given(ROWS)
def test_spearman_matches_scipy(rows: list[tuple[float, float]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    gold, guess = sides(rows)
    assume(len(set(gold)) > 1 < len(set(guess)))
    found = evaluate_values(pairs(gold), guess, bootstrap=0)
    assert found.spearman == pytest.approx(stats.spearmanr(gold, guess).statistic, abs=1e-6)


@given(ROWS)
def test_errors_are_absolute_differences_sorted_largest_first(rows: list[tuple[float, float]]) -> None:
    gold, guess = sides(rows)
    found = evaluate_values(pairs(gold), guess, bootstrap=0)
    distances = [abs(one - other) for one, other in rows]
    assert found.mean_absolute_error == pytest.approx(sum(distances) / len(rows))
    assert found.root_mean_squared_error == pytest.approx(
        math.sqrt(sum(d * d for d in distances) / len(rows))
    )
    places = [error.line - 2 for error in found.errors()]
    assert sorted(places) == list(range(len(rows)))
    assert [distances[at] for at in places] == sorted(distances, reverse=True)
    for error, at in zip(found.errors(), places, strict=True):
        assert (error.text, error.text_pair, error.file) == (f"a {at}", f"b {at}", "f.tsv")
        assert 0.0 <= error.confidence <= 1.0


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=5))
def test_the_interval_matches_resampling_one_file_at_a_time(rows: list[tuple[float, float]]) -> None:
    """With few pairs, some resampled files are constant; their correlation is 0."""
    gold, guess = sides(rows)
    found = evaluate_values(pairs(gold), guess, bootstrap=50, seed=3)
    each = []
    for times in np.concatenate(list(draws(len(rows), resamples=50, seed=3))).astype(int):
        x, y = np.repeat(gold, times), np.repeat(guess, times)
        constant = np.ptp(x) == 0 or np.ptp(y) == 0
        each.append(0.0 if constant else np.corrcoef(x, y)[0, 1])
    if np.ptp(gold) == 0 or np.ptp(guess) == 0:
        assert (found.pearson, found.interval("pearson")) == (0.0, None)
        return
    assert found.interval("pearson") == pytest.approx(np.percentile(each, [2.5, 97.5]), abs=1e-6)
    assert found.interval("spearman") is None
    low, high = found.pearson_interval or (0.0, 0.0)
    assert -1.0 <= low <= high <= 1.0


def test_correlation_is_precise_for_values_far_from_zero() -> None:
    """For years or prices, the mean may be far larger than the spread."""
    gold = 1e6 + np.arange(20.0)
    guess = gold + np.sin(np.arange(20.0))
    assert correlation(gold, guess) == pytest.approx(np.corrcoef(gold, guess)[0, 1], abs=1e-9)


def test_the_scores_convert_to_json_with_the_documented_keys() -> None:
    found = evaluate_values(pairs([0.0, 1.0, 2.0]), [0.0, 1.0, 5.0], bootstrap=10)
    assert found.headline == ("pearson", found.pearson)
    told = json.loads(json.dumps(found.to_json()))
    assert told.keys() == {
        "headline",
        "pearson",
        "spearman",
        "mean_absolute_error",
        "root_mean_squared_error",
        "intervals",
        "pairs",
    }
    assert (told["pairs"], told["mean_absolute_error"], told["spearman"]) == (3, 1.0, pytest.approx(1.0))
    assert told["intervals"]["pearson"] == list(found.pearson_interval or ())
    assert evaluate_values(pairs([0.0, 1.0]), [1.0, 0.0], bootstrap=0).to_json()["intervals"] is None
    assert found.by_type == []


def test_an_error_shows_its_size_and_direction() -> None:
    worst, second = evaluate_values(pairs([4.0, 0.0]), [1.0, 0.5], bootstrap=0).errors()
    assert (worst.kind, worst.gold, worst.predicted) == ("off by -3.00", "4.00", "1.00")
    assert second.kind == "off by +0.50"
    assert worst.confidence == pytest.approx(3 / 4)


def test_a_pair_without_a_gold_value_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"f\.tsv:3: no gold value"):
        evaluate_values([*pairs([1.0]), LabelledPair("a", "b", (), None, "f.tsv", 3)], [1.0, 2.0])
    with pytest.raises(InputError, match="no pairs to score"):
        evaluate_values([], [])
