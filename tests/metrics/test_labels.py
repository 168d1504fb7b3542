"""Accuracy, confusion tables and boundary errors: a wrong table would mislead an error analysis."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.counts import Counts
from gonie.metrics.labels import Boundaries, Confusion, LabelScores, token_counts
from gonie.metrics.spans import SpanScores, overlap, unit_spans
from gonie.text.schemes import Scheme, to_spans

TAGS = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])
CORPUS = st.lists(st.lists(st.tuples(TAGS, TAGS), max_size=10), min_size=1, max_size=5)


def spans_of(corpus, side):
    return [to_spans([pair[side] for pair in sentence], Scheme(kind="IOB2")) for sentence in corpus]


def test_accuracy_and_label_counts_of_a_small_example():
    scores = LabelScores.from_tags([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["C"]])
    assert (scores.correct, scores.tokens, scores.accuracy) == (2, 4, 0.5)
    assert scores.labels == {"A": Counts(2, 2, 1), "B": Counts(2, 1, 1), "C": Counts(0, 1, 0)}


def test_token_counts_sum_to_accuracy():
    counts = token_counts([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["C"]])
    assert counts.total().tolist() == [2, 4]


def test_confusion_of_a_small_example():
    gold = [[(0, 1, "PER"), (2, 4, "LOC"), (5, 6, "ORG"), (8, 9, "PER")]]
    predicted = [[(0, 1, "PER"), (3, 4, "LOC"), (5, 6, "LOC"), (11, 12, "ORG")]]
    table = Confusion.from_spans(gold, predicted)
    assert table.pairs == {("PER", "PER"): 1, ("ORG", "LOC"): 1}
    assert table.gold_boundary == {"LOC": 1}
    assert table.predicted_boundary == {"LOC": 1}
    assert table.missed == {"PER": 1}
    assert table.spurious == {"ORG": 1}
    assert table.labels == ["PER", "LOC", "ORG"]


def test_the_table_includes_labels_that_are_only_predicted():
    assert Confusion.from_spans([[]], [[(0, 1, "MISC")]]).labels == ["MISC"]


def test_confusion_of_plain_tags_counts_pairs_of_tags():
    table = Confusion.from_spans([unit_spans(["A", "A", "B"])], [unit_spans(["A", "B", "B"])])
    assert table.pairs == {("A", "A"): 1, ("A", "B"): 1, ("B", "B"): 1}
    assert not table.missed + table.spurious + table.gold_boundary + table.predicted_boundary


@settings(deadline=None, max_examples=150)
@given(CORPUS)
def test_every_span_is_in_exactly_one_cell(corpus):
    gold, predicted = spans_of(corpus, 0), spans_of(corpus, 1)
    table = Confusion.from_spans(gold, predicted)
    wanted, given_ = Counter(), Counter()
    for (due, guess), count in table.pairs.items():
        wanted[due] += count
        given_[guess] += count
    wanted += table.gold_boundary + table.missed
    given_ += table.predicted_boundary + table.spurious
    scores = SpanScores.from_spans(gold, predicted)
    for label, counts in scores.types.items():
        assert (wanted[label], given_[label]) == (counts.gold, counts.predicted)
        assert table.pairs[label, label] == counts.correct


@settings(deadline=None, max_examples=150)
@given(CORPUS)
def test_boundary_errors_equal_a_loop_over_all_pairs(corpus):
    gold, predicted = spans_of(corpus, 0), spans_of(corpus, 1)
    expected = Counter()
    for truth, guess in zip(gold, predicted, strict=True):
        for one in truth:
            for other in guess:
                if overlap(one, other) and one[:2] != other[:2]:
                    inside = one[0] <= other[0] and other[1] <= one[1]
                    around = other[0] <= one[0] and one[1] <= other[1]
                    kind = "too_short" if inside else "too_long" if around else "crossing"
                    expected[kind, one[2] == other[2]] += 1
    shown = Boundaries.from_spans(gold, predicted).to_json()
    for kind, sides in shown.items():
        assert sides == {"same_label": expected[kind, True], "other_label": expected[kind, False]}


def test_boundary_errors_of_a_small_example():
    gold = [[(0, 3, "X"), (5, 6, "X"), (8, 10, "X")]]
    predicted = [[(1, 3, "X"), (4, 7, "Y"), (9, 11, "X")]]
    assert Boundaries.from_spans(gold, predicted).to_json() == {
        "too_short": {"same_label": 1, "other_label": 0},
        "too_long": {"same_label": 0, "other_label": 1},
        "crossing": {"same_label": 1, "other_label": 0},
    }


def test_json_lists_only_nonzero_pairs_largest_first():
    table = Confusion.from_spans([unit_spans(["A", "A", "B"])], [unit_spans(["B", "B", "B"])])
    assert table.to_json()["pairs"] == [
        {"gold": "A", "predicted": "B", "count": 2},
        {"gold": "B", "predicted": "B", "count": 1},
    ]
