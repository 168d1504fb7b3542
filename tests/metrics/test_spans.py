"""Span scores: F1 must be the F1 that papers and conlleval report."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.counts import Counts
from gonie.metrics.spans import SpanScores, overlap, read_spans, span_counts
from gonie.text.schemes import Scheme, to_spans

IOB_TAGS = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y", "I-Z"])
BIOES_TAGS = st.sampled_from(["O", *(f"{letter}-{label}" for letter in "BIES" for label in "XY")])


def pairs(tags):
    """Return a strategy for corpora of gold and predicted tags."""
    sentence = st.lists(st.tuples(tags, tags), max_size=9)
    return st.lists(sentence, min_size=1, max_size=6)


def conlleval(lines):
    """Count as the CoNLL script does: one pass over (gold, predicted) lines, without spans.

    A line is a pair of tags; None ends a sentence.
    """

    def parts(tag):
        found = re.match(r"^([^-]*)-(.*)$", tag)
        return found.groups() if found else (tag, "")

    def ends(before, before_type, now, now_type):
        broken = (before, now) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}
        return broken or (before not in ("O", ".") and before_type != now_type)

    def starts(before, before_type, now, now_type):
        begun = (before, now) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}
        return begun or (now not in ("O", ".") and before_type != now_type)

    found = {name: Counter() for name in ("gold", "predicted", "correct")}
    in_correct, tokens, right = False, 0, 0
    last_gold, last_predicted = ("O", ""), ("O", "")
    for line in lines:
        gold, predicted = ("O", ""), ("O", "")
        if line is not None:
            gold, predicted = parts(line[0]), parts(line[1])
        gold_ends, predicted_ends = ends(*last_gold, *gold), ends(*last_predicted, *predicted)
        gold_starts, predicted_starts = starts(*last_gold, *gold), starts(*last_predicted, *predicted)
        if in_correct:
            if gold_ends and predicted_ends and last_gold[1] == last_predicted[1]:
                in_correct = False
                found["correct"][last_gold[1]] += 1
            elif gold_ends != predicted_ends or gold[1] != predicted[1]:
                in_correct = False
        if gold_starts and predicted_starts and gold[1] == predicted[1]:
            in_correct = True
        found["gold"][gold[1]] += gold_starts
        found["predicted"][predicted[1]] += predicted_starts
        if line is not None:
            tokens += 1
            right += line[0] == line[1]
        last_gold, last_predicted = gold, predicted
    labels = {label for part in found.values() for label, count in part.items() if count}
    return {label: Counts(*(found[name][label] for name in found)) for label in labels}, right, tokens


def score(corpus, scheme, mode):
    gold = [to_spans([tag for tag, _ in sentence], scheme, mode) for sentence in corpus]
    predicted = [to_spans([tag for _, tag in sentence], scheme, mode) for sentence in corpus]
    return SpanScores.from_spans(gold, predicted)


def test_scores_of_a_small_example():
    gold = [[(0, 2, "PER"), (3, 4, "LOC"), (5, 6, "LOC")], []]
    predicted = [[(0, 2, "PER"), (3, 4, "ORG"), (5, 7, "LOC")], [(0, 1, "PER")]]
    scores = SpanScores.from_spans(gold, predicted)
    assert scores.types == {"LOC": Counts(2, 1, 0), "ORG": Counts(0, 1, 0), "PER": Counts(1, 2, 1)}
    assert scores.micro == Counts(3, 4, 1)
    assert scores.macro.precision == pytest.approx((0 + 0 + 1 / 2) / 3)
    assert scores.macro.recall == pytest.approx(1 / 3)
    assert scores.macro.f1 == pytest.approx((2 / 3) / 3)


def test_the_same_span_in_another_sentence_is_not_correct():
    assert SpanScores.from_spans([[(0, 1, "X")], []], [[], [(0, 1, "X")]]).micro == Counts(1, 1, 0)


def test_no_spans_score_zero():
    scores = SpanScores.from_spans([[]], [[]])
    assert (scores.micro.f1, scores.macro.f1, scores.types) == (0, 0, {})


def test_different_numbers_of_sentences_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        SpanScores.from_spans([[], []], [[]])


@settings(deadline=None, max_examples=300)
@given(pairs(IOB_TAGS), st.sampled_from(["IOB1", "IOB2"]))
def test_scores_equal_conlleval_for_valid_and_invalid_tags(corpus, kind):
    lines = [line for sentence in corpus for line in (*sentence, None)]
    types, right, tokens = conlleval(lines)
    scores = score(corpus, Scheme(kind=kind), "conlleval")
    assert scores.types == types
    assert sum(len(sentence) for sentence in corpus) == tokens
    assert sum(a == b for sentence in corpus for a, b in sentence) == right


def strict_spans(tags, shape):
    """Read spans strictly: find every range that has exactly the tags of one entity and ends there."""
    found = set()
    for start in range(len(tags)):
        for end in range(start + 1, len(tags) + 1):
            for label in "XYZ":
                letters = shape(end - start)
                written = [f"{letter}-{label}" for letter in letters]
                goes_on = (
                    end < len(tags) and tags[end] in (f"I-{label}", f"E-{label}") and letters[-1] in "BI"
                )
                if list(tags[start:end]) == written and not goes_on:
                    found.add((start, end, label))
    return found


def iob2(length):
    return "B" + "I" * (length - 1)


def bioes(length):
    return "S" if length == 1 else "B" + "I" * (length - 2) + "E"


@pytest.mark.parametrize(("kind", "shape", "tags"), [("IOB2", iob2, IOB_TAGS), ("BIOES", bioes, BIOES_TAGS)])
def test_strict_mode_counts_only_well_formed_spans(kind, shape, tags):
    @settings(deadline=None, max_examples=150)
    @given(pairs(tags))
    def check(corpus):
        gold = [strict_spans([tag for tag, _ in sentence], shape) for sentence in corpus]
        predicted = [strict_spans([tag for _, tag in sentence], shape) for sentence in corpus]
        expected = SpanScores.from_spans(gold, predicted)
        assert score(corpus, Scheme(kind=kind), "strict").types == expected.types

    check()


@settings(deadline=None, max_examples=50)
@given(pairs(IOB_TAGS))
def test_counts_per_sentence_sum_to_the_scores(corpus):
    scheme = Scheme(kind="IOB2")
    gold = [to_spans([tag for tag, _ in sentence], scheme) for sentence in corpus]
    predicted = [to_spans([tag for _, tag in sentence], scheme) for sentence in corpus]
    scores = SpanScores.from_spans(gold, predicted)
    total = span_counts(gold, predicted, list(scores.types)).total().reshape(-1, 3)
    assert [Counts(*map(int, row)) for row in total] == list(scores.types.values())


def test_each_plain_tag_is_a_span_of_one_token():
    assert read_spans(["DET", "NOUN"], Scheme(kind="plain")) == [(0, 1, "DET"), (1, 2, "NOUN")]


def test_adjacent_spans_do_not_overlap():
    assert not overlap((0, 2, "X"), (2, 3, "X"))
    assert overlap((0, 3, "X"), (2, 4, "Y"))


def test_types_are_sorted_by_gold_frequency_and_then_by_name():
    gold = [(at, at + 1, label) for at, label in enumerate("YXZX")]
    scores = SpanScores.from_spans([gold], [[(9, 10, "W")]])
    assert [label for label, _ in scores.by_frequency] == ["X", "Y", "Z", "W"]
