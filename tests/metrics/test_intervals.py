"""Intervals of scores: each interval belongs to the score it is reported for."""

import random

import numpy as np
import pytest

from gonie.metrics.intervals import bootstrap_intervals
from gonie.metrics.labels import token_counts
from gonie.metrics.novelty import Novelty, SeenMentions, novelty_counts
from gonie.metrics.spans import SpanScores, span_counts, unit_spans

LABELS = ["X", "Y", "Z"]


def corpus(sentences=30, seed=2):
    chance = random.Random(seed)
    gold = [[chance.choice(LABELS) for _ in range(chance.randrange(1, 5))] for _ in range(sentences)]
    predicted = [[tag if chance.random() < 0.7 else chance.choice(LABELS) for tag in tags] for tags in gold]
    return gold, predicted


def tables(gold, predicted, seen=None):
    truth, guess = list(map(unit_spans, gold)), list(map(unit_spans, predicted))
    words = [[f"word{tag}" for tag in tags] for tags in gold]
    return {
        "spans": span_counts(truth, guess, LABELS),
        "tokens": token_counts(gold, predicted),
        "novelty": None if seen is None else novelty_counts(words, truth, guess, seen),
        "labels": LABELS,
    }


def test_intervals_equal_those_of_rescored_resamples():
    gold, predicted = corpus()
    found = bootstrap_intervals(**tables(gold, predicted), resamples=50, seed=9)
    drawn = np.random.default_rng(9).integers(0, 30, size=(50, 30))
    again = [
        SpanScores.from_spans([unit_spans(gold[n]) for n in row], [unit_spans(predicted[n]) for n in row])
        for row in drawn
    ]
    middle = [2.5, 97.5]
    for name in ("precision", "recall", "f1"):
        micro = np.percentile([getattr(scores.micro, name) for scores in again], middle)
        macro = np.percentile([getattr(scores.macro, name) for scores in again], middle)
        single = np.percentile([getattr(scores.types["Y"], name) for scores in again], middle)
        assert found.overall[name] == pytest.approx(micro)
        assert found.overall[f"macro_{name}"] == pytest.approx(macro)
        assert found.types["Y"][name] == pytest.approx(single)
    assert found.overall["accuracy"] == pytest.approx(found.overall["f1"])  # one span per token


def test_novelty_has_its_own_intervals():
    gold, predicted = corpus()
    seen = SeenMentions.from_types({"wordX": ["X"], "wordY": ["Z"]})
    found = bootstrap_intervals(**tables(gold, predicted, seen), resamples=200, seed=0)
    both = [pair for sides in zip(gold, predicted, strict=True) for pair in zip(*sides, strict=True)]
    right = [due == guess for due, guess in both if due == "X"]
    low, high = found.novelty[Novelty.SEEN.value]
    assert low <= sum(right) / len(right) <= high
    assert found.novelty[Novelty.PARTLY_SEEN.value] == (0.0, 0.0)


def test_a_type_that_is_always_right_is_as_certain_as_its_sentences_are_many():
    """A type of two sentences in a thousand is not 100% to 100%."""
    gold = [["X", "X"], ["X"], ["Y"], ["Y"], ["Y"]]
    found = bootstrap_intervals(**tables(gold, gold), resamples=50, seed=0)
    assert found.types["X"]["f1"] == pytest.approx((2 / (2 + 1.959964**2), 1.0))
    assert found.overall["f1"] == pytest.approx((5 / (5 + 1.959964**2), 1.0))


def test_a_file_without_spans_has_intervals_of_zero():
    empty = {
        "spans": span_counts([[], []], [[], []], []),
        "tokens": token_counts([["O"], ["O"]], [["O"], ["O"]]),
    }
    found = bootstrap_intervals(**empty, novelty=None, labels=[], resamples=20, seed=0)
    assert found.overall["f1"] == (0.0, 0.0)
    assert found.overall["accuracy"] == pytest.approx((2 / (2 + 1.959964**2), 1.0))
    assert found.to_json()["types"] == {}
