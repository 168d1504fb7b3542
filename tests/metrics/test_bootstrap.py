"""Bootstrap intervals: if these break, the uncertainty of a score is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics import bootstrap
from gonie.metrics.bootstrap import draws, intervals, percentiles, resampled_sums
from gonie.metrics.counts import SentenceCounts


def random_counts(sentences=40, columns=5, seed=3):
    table = np.random.default_rng(seed).integers(0, 4, size=(sentences, columns))
    events = [(n, c, int(table[n, c])) for n in range(sentences) for c in range(columns)]
    return SentenceCounts.from_events(events, sentences=sentences, columns=columns), table


def accuracy(sums):
    return sums[:, :1] / sums[:, 1:]


def coins(heads, sentences):
    events = [(n, 0, int(n < heads)) for n in range(sentences)] + [(n, 1, 1) for n in range(sentences)]
    return SentenceCounts.from_events(events, sentences=sentences, columns=2)


def test_sums_equal_a_loop_over_the_drawn_sentences():
    counts, table = random_counts()
    drawn = np.random.default_rng(7).integers(0, 40, size=(20, 40))
    expected = [sum(table[n] for n in row) for row in drawn]
    assert np.array_equal(resampled_sums(counts, resamples=20, seed=7), expected)


def test_small_blocks_give_the_same_sums(monkeypatch):
    counts, _ = random_counts()
    whole = resampled_sums(counts, resamples=30, seed=1)
    monkeypatch.setattr(bootstrap, "CELLS", 80)  # two sentences and two columns at a time
    assert np.array_equal(resampled_sums(counts, resamples=30, seed=1), whole)


def test_every_draw_has_the_size_of_the_corpus(monkeypatch):
    monkeypatch.setattr(bootstrap, "CELLS", 40)  # four rows at a time
    blocks = list(draws(10, resamples=9, seed=2))
    assert [len(block) for block in blocks] == [4, 4, 1]
    drawn = np.random.default_rng(2).integers(0, 10, size=(9, 10))
    times = [[list(row).count(n) for n in range(10)] for row in drawn]
    assert np.array_equal(np.concatenate(blocks), times)


def test_intervals_depend_only_on_the_seed():
    counts = coins(heads=60, sentences=100)
    one = intervals(counts, accuracy, resamples=200, seed=5)
    assert np.array_equal(one, intervals(counts, accuracy, resamples=200, seed=5))
    assert not np.array_equal(one, intervals(counts, accuracy, resamples=200, seed=6))


def test_the_interval_of_coin_flips_is_binomial():
    low, high = intervals(coins(heads=300, sentences=1000), accuracy, resamples=4000)[0]
    half = 1.96 * np.sqrt(0.3 * 0.7 / 1000)
    assert low == pytest.approx(0.3 - half, abs=0.003)
    assert high == pytest.approx(0.3 + half, abs=0.003)


@pytest.mark.parametrize("sentences", [1, 5, 40])
def test_a_score_without_any_error_is_not_certain(sentences, monkeypatch):
    """Five right answers of five do not prove that all others are right: Wilson's interval is 57 to 100."""
    monkeypatch.setattr(bootstrap, "CELLS", 6)  # three sentences at a time
    squared = 1.959964**2
    right = intervals(coins(heads=sentences, sentences=sentences), accuracy, resamples=10)
    assert right[0] == pytest.approx([sentences / (sentences + squared), 1.0])
    wrong = intervals(coins(heads=0, sentences=sentences), accuracy, resamples=10)
    assert wrong[0] == pytest.approx([0.0, squared / (sentences + squared)])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), min_size=1, max_size=30))
def test_percentiles_equal_numpy_where_defined(values):
    scores = np.array(values)[:, None]
    defined = scores[~np.isnan(scores)]
    expected = np.percentile(defined, [2.5, 97.5]) if len(defined) else [0.0, 0.0]
    assert percentiles(scores)[0] == pytest.approx(expected, abs=1e-12)
