"""If these break, a tag is shown with the doubts of another, or a span with the words of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.explain.erasure import erasure
from gonie.explain.flat import flatten
from gonie.explain.span_answers import SpanAnswers
from gonie.explain.tags import METHODS, explain_sentences, span_answer
from gonie.tasks.load import load
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.torch.trained import load_trained
from gonie.text.types import Sentence

SENTENCES = [Sentence(tuple(text.split())) for text in ("Anna Kim lives in Seoul .", "", "it rains .")]


@pytest.fixture
def tagger(toy_run: Path) -> Tagger:
    return load(toy_run)


def test_a_sentence_has_its_tags_their_doubts_and_its_spans(tagger: Tagger) -> None:
    first, empty, rain = explain_sentences(tagger, iter(SENTENCES), candidates=3)
    (tagging,) = tagger.tag_sentences(SENTENCES[:1])
    assert first.tags == tagging.tags
    assert [(s.start, s.end, s.label) for s in first.spans] == [(0, 2, "PER"), (4, 5, "LOC")]
    assert [s.probability for s in first.spans] == [s.score for s in tagging.spans]
    for tag, score, marginals in zip(tagging.tags, tagging.scores, first.marginals, strict=True):
        assert marginals[tag] == pytest.approx(score)
        assert sum(marginals.values()) == pytest.approx(1.0)
    assert (empty.tags, empty.spans, empty.candidates) == ((), (), ())
    assert (rain.spans, len(rain.marginals)) == ((), 3)


def test_candidates_are_the_likeliest_taggings(tagger: Tagger) -> None:
    (one,) = explain_sentences(tagger, [Sentence(("Seoul",))], candidates=50)
    chances = [candidate.probability for candidate in one.candidates]
    assert one.candidates[0].tags == one.tags
    assert sum(chances) == pytest.approx(1.0), "a sentence of one word has few, and these are all"
    assert chances == sorted(chances, reverse=True)
    for candidate in one.candidates:
        assert candidate.probability == pytest.approx(one.marginals[0][candidate.tags[0]])


def test_each_span_is_explained_over_its_whole_sentence(tagger: Tagger, toy_run: Path) -> None:
    model = load_trained(toy_run).model
    first, *_ = explain_sentences(tagger, SENTENCES, methods=tuple(METHODS), model=model)
    for span in first.spans:
        assert tuple(weights.method for weights in span.weights) == tuple(METHODS)
        answer = span_answer(tagger, SENTENCES[0], first.tags, span.start, span.end)
        by_gradients, by_erasure = map(flatten, span.weights)
        assert len(by_gradients) == len(SENTENCES[0])
        assert by_erasure.tolist() == pytest.approx(erasure(SpanAnswers(tagger), answer).tolist())
        assert {weights.label for weights in span.weights} == {span.label}
        assert span.weights[0].gap == pytest.approx(0.0, abs=0.1)
    assert flatten(first.spans[1].weights[1]).argmax() == 4, "Seoul is a place because it is Seoul"


def test_plain_tags_are_explained_one_by_one(plain_tagger: Tagger) -> None:
    (found,) = explain_sentences(plain_tagger, [Sentence(("Gonie", "sleeps"))])
    assert [(s.start, s.end, s.label) for s in found.spans] == [(0, 1, "NOUN"), (1, 2, "VERB")]
    assert [flatten(s.weights[0]).argmax() for s in found.spans] == [0, 1]


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["attention"], "methods among integrated gradients, erasure, got 'attention'"),
        (["integrated gradients"], "the weights of a training run"),
    ],
)
def test_what_a_tagger_has_not_is_refused(tagger: Tagger, methods: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explain_sentences(tagger, [], methods=methods)
