"""If these break, a span is judged by another probability than the one it is shown with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gonie.explain import answers
from gonie.explain.erased import Keep, masked
from gonie.explain.odds import to_probabilities
from gonie.explain.span_answers import SpanAnswer, SpanAnswers
from gonie.tasks.load import load
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Sentence

SENTENCES = ("Anna Kim lives in Seoul .", "we met Dora and Bert Lee .", "it rains .", "Oslo")


@pytest.fixture
def tagger(toy_run: Path) -> Tagger:
    return load(toy_run)


def questions(tagger: Tagger) -> list[tuple[SpanAnswer, Keep]]:
    chance = np.random.default_rng(0)
    asked = []
    for text in SENTENCES:
        sentence = Sentence(tuple(text.split()))
        (tagging,) = tagger.tag_sentences([sentence])
        for span in tagging.spans:
            ids = tuple(tagger.encoding.label_ids[tag] for tag in tagging.tags[span.start : span.end])
            answer = SpanAnswer(sentence, span.start, ids)
            asked += [(answer, chance.random(len(sentence)) < share) for share in (1.0, 0.5, 0.5, 0.0)]
    return asked


def test_the_answer_is_the_spans_score_in_what_is_left(tagger: Tagger) -> None:
    asked = questions(tagger)
    assert len(asked) >= 20
    found = to_probabilities(SpanAnswers(tagger).log_odds(iter(asked)))
    for (answer, keep), probability in zip(asked, found, strict=True):
        (scores,) = tagger.emissions([masked(answer.sentence, keep)])
        lattice = tagger.decoder.forward_backward(scores[None], [len(scores)])
        wanted = lattice.path_probability(0, answer.start, answer.end, answer.tags)
        assert probability == pytest.approx(wanted, abs=1e-6)


def test_of_the_whole_sentence_it_is_the_score_that_is_shown(tagger: Tagger) -> None:
    sentence = Sentence(tuple(SENTENCES[0].split()))
    (tagging,) = tagger.tag_sentences([sentence])
    whole = [(answer, keep) for answer, keep in questions(tagger) if keep.all() and answer.tokens == 6]
    found = to_probabilities(SpanAnswers(tagger).log_odds(whole))
    assert found[:2].tolist() == pytest.approx([span.score for span in tagging.spans])


def test_blocks_change_nothing(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = questions(tagger)
    at_once = SpanAnswers(tagger).log_odds(asked)
    monkeypatch.setattr(answers, "BLOCK", 7)
    np.testing.assert_allclose(SpanAnswers(tagger).log_odds(asked), at_once, atol=1e-4)
    assert SpanAnswers(tagger).log_odds([]).shape == (0,)
