"""Counts of gold, predicted and correct spans: if these break, every score is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.counts import Counts, SentenceCounts

EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), max_size=30)


def naive(events, sentences=5, columns=7):
    table = np.zeros((sentences, columns))
    for sentence, column, value in events:
        table[sentence, column] += value
    return table


def test_precision_recall_and_f1_of_a_small_example():
    counts = Counts(gold=4, predicted=5, correct=3)
    assert (counts.precision, counts.recall) == (3 / 5, 3 / 4)
    assert counts.f1 == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))


def test_empty_counts_score_zero():
    assert Counts().to_json() == {
        "f1": 0.0, "precision": 0.0, "recall": 0.0, "gold": 0, "predicted": 0, "correct": 0,
    }  # fmt: skip


def test_counts_can_be_added():
    assert Counts(1, 2, 1) + Counts(3, 0, 0) == Counts(4, 2, 1)


@settings(deadline=None, max_examples=50)
@given(EVENTS, st.integers(0, 7), st.integers(0, 7))
def test_a_sparse_table_equals_a_dense_one(events, one, other):
    first, last = sorted((one, other))
    counts = SentenceCounts.from_events(events, sentences=5, columns=7)
    assert np.array_equal(counts.dense(first, last), naive(events)[:, first:last])
    assert np.array_equal(counts.total(), naive(events).sum(axis=0))


@settings(deadline=None, max_examples=50)
@given(EVENTS, EVENTS)
def test_joined_tables_keep_their_columns(left, right):
    parts = [SentenceCounts.from_events(events, sentences=5, columns=7) for events in (left, right)]
    joined = SentenceCounts.hstack(parts)
    assert np.array_equal(joined.dense(0, 14), np.hstack([naive(left), naive(right)]))


def test_a_dense_table_is_converted_without_change():
    table = np.array([[0, 2, 1], [3, 0, 0]])
    counts = SentenceCounts.from_table(table)
    assert counts.shape == (2, 3)
    assert np.array_equal(counts.dense(0, 3), table)
    assert np.array_equal(counts.dense(1, 2), table[:, 1:2])
