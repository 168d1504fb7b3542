"""Gold spans that tokens cannot express, proved against a scorer that only compares characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.formats.spans import AnnotatedText, char_spans, tagged_sentences
from gonie.metrics.aligned import align_spans
from gonie.metrics.evaluation import evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.metrics.significance import Tally
from gonie.text.report import Report
from gonie.text.schemes import IOB2, from_spans
from gonie.text.types import Sentence

CharSpan = tuple[int, int, str]
TEXT = "삼성전자는 서울에 있다. 김철수는 갔다."
LABELS = ("A", "B")


def cut(text: str, edges: Sequence[int], stops: Sequence[int]) -> list[Sentence]:
    """Cut a text at these edges and at its spaces. Sentences end at those of the tokens in ``stops``."""
    places, at = [], 0
    for edge in sorted({*edges, len(text), *(i for i, c in enumerate(text) if c.isspace())}):
        start = at + (at < edge and text[at].isspace())
        if start < edge:
            places.append((start, edge))
        at = edge
    ends = sorted({0, len(places), *(stop for stop in stops if stop < len(places))})
    return [
        Sentence(
            tuple(text[a:b] for a, b in places[first:last]),
            text=text,
            starts=tuple(a for a, _ in places[first:last]),
            ends=tuple(b for _, b in places[first:last]),
        )
        for first, last in pairwise(ends)
    ]


def gold_of(text: str, sentences: list[Sentence], spans: Sequence[CharSpan]) -> list[Sentence]:
    return list(tagged_sentences([AnnotatedText(text=text, spans=spans)], lambda _: sentences, Report()))


def trimmed(text: str, span: CharSpan) -> CharSpan:
    start, end, label = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end, label) if start < end else span


@st.composite
def scored(draw: st.DrawFn):
    text = draw(st.text("가나 다", min_size=1, max_size=14))
    places = st.integers(0, len(text))
    sentences = cut(text, draw(st.lists(places, max_size=6)), draw(st.lists(st.integers(1, 8), max_size=2)))
    span = st.tuples(places, places, st.sampled_from(LABELS)).filter(lambda span: span[0] < span[1])
    spans = draw(st.lists(span, max_size=6))
    tags = [
        draw(st.lists(st.sampled_from(("O", "B-A", "I-A", "B-B")), min_size=len(each), max_size=len(each)))
        for each in sentences
    ]
    return text, sentences, spans, tags


@settings(max_examples=300, deadline=None)
@given(scored())
def test_scores_are_those_of_a_scorer_of_characters(example) -> None:
    text, sentences, spans, tags = example
    gold = gold_of(text, sentences, spans)
    wanted = {trimmed(text, span) for span in spans}
    if not gold:  # an empty text without spans
        assert not wanted
        return
    predicted = tags if sentences else [[]]
    found = evaluate(gold, predicted, scheme=IOB2, bootstrap=5, seen=SeenMentions.from_sentences(gold, IOB2))
    given_spans = {
        span
        for each, own in zip(sentences, tags, strict=True)
        for span in char_spans(Sentence(each.words, tuple(own), {}, text, each.starts, each.ends), IOB2)
    }
    micro = found.spans.micro
    assert (micro.gold, micro.predicted) == (len(wanted), len(given_spans))
    assert micro.correct == len(wanted & given_spans)
    for label in LABELS:
        counts = found.spans.types.get(label)
        assert (counts.gold if counts else 0) == sum(span[2] == label for span in wanted)
    confusion, total = found.confusion, sum(found.confusion.pairs.values())
    assert total + confusion.gold_boundary.total() + confusion.missed.total() == micro.gold
    assert sum(recall.gold for recall in (found.novelty or {}).values()) == micro.gold
    tally = Tally.from_tags(gold, predicted, IOB2)
    assert tuple(tally.counts.sum(axis=0)) == (micro.gold, micro.predicted, micro.correct)
    if micro.gold > micro.correct:
        assert found.errors()


def one(edges: Sequence[int], *spans: CharSpan, stops: Sequence[int] = ()) -> list[Sentence]:
    return gold_of(TEXT, cut(TEXT, edges, stops), spans)


def test_a_span_inside_a_token_is_missed_and_listed_with_its_own_text() -> None:
    (sentence,) = one([], (0, 4, "A"))
    assert sentence.unreachable == ((0, 4, "A"),)
    result = evaluate([sentence], [from_spans([(0, 1, "A")], len(sentence), IOB2)], scheme=IOB2, bootstrap=0)
    assert (result.spans.micro.gold, result.spans.micro.correct, result.unreachable) == (1, 0, {"A": 1})
    assert result.to_json()["unreachable"] == {"A": 1}
    (error,) = result.errors()
    assert (error.kind, error.gold_text, error.predicted_text) == ("wrong boundary", "삼성전자", "삼성전자는")
    assert result.boundaries is not None
    assert result.boundaries.same_label["too_long"] == 1


def test_a_span_across_sentences_counts_once() -> None:
    first, second = one([], (6, 17, "A"), stops=[3])
    assert (len(first.unreachable), second.unreachable) == (1, ())
    result = evaluate([first, second], [["O"] * 3, ["O"] * 2], scheme=IOB2, bootstrap=0)
    assert result.spans.micro.gold == 1
    assert result.errors()[0].gold_text == "서울에 있다. 김철수"


def test_a_prediction_of_an_overlapping_span_is_correct() -> None:
    """Both spans are gold, but tags can have only one of them."""
    (sentence,) = one([4, 8], (0, 4, "A"), (0, 4, "B"))
    result = evaluate([sentence], [["B-B", *["O"] * (len(sentence) - 1)]], scheme=IOB2, bootstrap=0)
    assert (result.spans.micro.correct, result.spans.micro.gold, result.unreachable) == (1, 2, {})
    assert result.confusion.to_json()["missed"] == {"A": 1}


def test_a_text_without_tokens_keeps_its_spans() -> None:
    (sentence,) = gold_of("  ", [], [(0, 2, "A")])
    assert (sentence.words, sentence.unreachable) == ((), ((0, 2, "A"),))
    result = evaluate([sentence, sentence], [[], []], scheme=IOB2)
    assert (result.spans.micro.gold, len(result.errors())) == (2, 2)


def test_repeated_spans_are_one() -> None:
    (sentence,) = one([4], (0, 4, "A"), (0, 4, "A"))
    assert sentence.unreachable == ()


def test_sentences_without_such_spans_are_not_copied() -> None:
    sentence = Sentence(("a", "b"), ("O", "O"))
    assert align_spans(sentence, [], []).sentence is sentence


def test_models_of_different_units_can_be_compared() -> None:
    """Their sentences have the same characters and the same gold, but other words."""
    coarse, fine = one([], (0, 4, "A")), one([4, 8], (0, 4, "A"))
    tallies = [Tally.from_tags(own, [["O"] * len(own[0])], IOB2) for own in (coarse, fine)]
    assert tallies[0].data == tallies[1].data
    assert tallies[0].counts.tolist() == tallies[1].counts.tolist() == [[1, 0, 0]]


def test_confidence_of_a_missed_span_is_that_of_its_token() -> None:
    (sentence,) = one([], (0, 4, "A"))
    sure = [[0.25, *[1.0] * (len(sentence) - 1)]]
    result = evaluate([sentence], [["O"] * len(sentence)], scheme=IOB2, confidences=sure, chances=[{}])
    assert result.errors()[0].confidence == pytest.approx(0.25)
