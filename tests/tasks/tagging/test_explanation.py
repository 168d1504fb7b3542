"""If these break, tags have wrong marginals, or spans have the weights of other words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.explaining.methods import erasure, explain_items, flatten
from gonie.explaining.torch.gradients import load_gradients
from gonie.metrics.log_odds import to_probabilities
from gonie.reports.explanation import TagExplanation
from gonie.runtime import groups
from gonie.tasks.explanation import Keep
from gonie.tasks.load import load
from gonie.tasks.tagging import explanation as module
from gonie.tasks.tagging.explanation import (
    ExplainedTagger,
    SpanAnswer,
    TagExplanations,
    masked,
    transitions,
)
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.passages import BLANK
from gonie.text.types import Sentence

SENTENCES = [Sentence(tuple(text.split())) for text in ("Anna Kim lives in Seoul .", "", "it rains .")]


@pytest.fixture
def tagger(toy_run: Path) -> Tagger:
    return load(toy_run)


def explained(tagger: Tagger, sentences: Any, candidates: int = 5, **options: Any) -> list[TagExplanation]:
    model = TagExplanations().explained(tagger, {"nbest": candidates})
    return [each.explanation for each in explain_items(model, sentences, **options)]


def test_an_explanation_has_tags_marginals_and_spans(tagger: Tagger) -> None:
    first, empty, rain = explained(tagger, iter(SENTENCES), candidates=3)
    (tagging,) = tagger.tag_sentences(SENTENCES[:1])
    assert first.tags == tagging.tags
    assert [(s.start, s.end, s.label) for s in first.spans] == [(0, 2, "PER"), (4, 5, "LOC")]
    assert [s.probability for s in first.spans] == [s.score for s in tagging.spans]
    for tag, score, marginals in zip(tagging.tags, tagging.scores, first.marginals, strict=True):
        assert marginals[tag] == pytest.approx(score)
        assert sum(marginals.values()) == pytest.approx(1.0)
    assert (empty.tags, empty.spans, empty.candidates) == ((), (), ())
    assert (rain.spans, len(rain.marginals)) == ((), 3)


def test_candidates_are_the_most_likely_taggings(tagger: Tagger) -> None:
    (one,) = explained(tagger, [Sentence(("Seoul",))], candidates=50)
    chances = [candidate.probability for candidate in one.candidates]
    assert one.candidates[0].tags == one.tags
    assert sum(chances) == pytest.approx(1.0), "a sentence of one word has few, and these are all"
    assert chances == sorted(chances, reverse=True)
    for candidate in one.candidates:
        assert candidate.probability == pytest.approx(one.marginals[0][candidate.tags[0]])


def test_each_span_is_explained_over_its_whole_sentence(tagger: Tagger, toy_run: Path) -> None:
    model = ExplainedTagger(tagger)
    first, *_ = explain_items(
        model, SENTENCES, methods=model.methods, gradients=load_gradients(toy_run, tagger)
    )
    assert len(first.answers) == len(first.explanation.spans) == 2
    for answer, span in zip(first.answers, first.explanation.spans, strict=True):
        assert (answer.start, answer.end, answer.label) == (span.start, span.end, span.label)
        assert tuple(weights.method for weights in span.weights) == model.methods
        by_gradients, by_erasure = map(flatten, span.weights)
        assert len(by_gradients) == len(SENTENCES[0])
        assert by_erasure.tolist() == pytest.approx(erasure(model, answer).tolist())
        assert {weights.label for weights in span.weights} == {span.label}
        assert span.weights[0].gap == pytest.approx(0.0, abs=0.1)
    seoul = first.explanation.spans[1].weights[1]
    assert flatten(seoul).argmax() == 4, "Seoul is a place because it is Seoul"


def test_plain_tags_are_explained_per_token(plain_tagger: Tagger) -> None:
    (found,) = explained(plain_tagger, [Sentence(("Gonie", "sleeps"))])
    assert [(s.start, s.end, s.label) for s in found.spans] == [(0, 1, "NOUN"), (1, 2, "VERB")]
    assert [flatten(s.weights[0]).argmax() for s in found.spans] == [0, 1]


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["attention"], r"'attention'\. Use integrated gradients, erasure"),
        (["integrated gradients"], "need the checkpoint of a run folder"),
    ],
)
def test_unavailable_methods_are_refused(tagger: Tagger, methods: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explained(tagger, [], methods=methods)


def test_items_and_held_out_sentences_are_read(tagger: Tagger, toy: Path, tmp_path: Path) -> None:
    model = ExplainedTagger(tagger)
    assert [item.words for item in model.items("It rains. We go.", [])] == [
        ("It", "rains", "."),
        ("We", "go", "."),
    ]
    assert model.held_out(tmp_path, None) is None
    found = model.held_out(tmp_path, toy / "dev.conll")
    assert found is not None
    assert next(iter(found.items)).tags
    assert model.size(Sentence(("a",) * 16)) == (16, 3)


# --- log-odds of spans

TEXTS = ("Anna Kim lives in Seoul .", "we met Dora and Bert Lee .", "it rains .", "Oslo")


def questions(tagger: Tagger) -> list[tuple[SpanAnswer, Keep]]:
    chance = np.random.default_rng(0)
    asked = []
    for text in TEXTS:
        sentence = Sentence(tuple(text.split()))
        (tagging,) = tagger.tag_sentences([sentence])
        for span in tagging.spans:
            ids = tuple(tagger.encoding.label_ids[tag] for tag in tagging.tags[span.start : span.end])
            answer = SpanAnswer(sentence, span.start, ids)
            asked += [(answer, chance.random(len(sentence)) < share) for share in (1.0, 0.5, 0.5, 0.0)]
    return asked


def test_span_log_odds_are_computed_on_the_masked_sentence(tagger: Tagger) -> None:
    asked = questions(tagger)
    assert len(asked) >= 20
    found = to_probabilities(ExplainedTagger(tagger).log_odds(iter(asked)))
    for (answer, keep), probability in zip(asked, found, strict=True):
        (scores,) = tagger.emissions([masked(answer.sentence, keep)])
        lattice = tagger.decoder.forward_backward(scores[None], [len(scores)])
        wanted = lattice.path_probability(0, answer.start, answer.end, answer.tags)
        assert probability == pytest.approx(wanted, abs=1e-6)


def test_without_masking_the_log_odds_match_the_span_score(tagger: Tagger) -> None:
    sentence = Sentence(tuple(TEXTS[0].split()))
    (tagging,) = tagger.tag_sentences([sentence])
    whole = [(answer, keep) for answer, keep in questions(tagger) if keep.all() and answer.tokens == 6]
    found = to_probabilities(ExplainedTagger(tagger).log_odds(whole))
    assert found[:2].tolist() == pytest.approx([span.score for span in tagging.spans])


def test_log_odds_do_not_depend_on_the_block_size(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = questions(tagger)
    at_once = ExplainedTagger(tagger).log_odds(asked)
    monkeypatch.setattr(groups, "MOST", 7)
    monkeypatch.setattr(module, "MOST", 7)
    np.testing.assert_allclose(ExplainedTagger(tagger).log_odds(asked), at_once, atol=1e-4)
    assert ExplainedTagger(tagger).log_odds([]).shape == (0,)


@pytest.mark.parametrize("keep", [[True, False, True], [False, False, False]])
def test_masked_words_become_unknown_in_place(keep: list[bool]) -> None:
    sentence = Sentence(("Anna", "sleeps", "."), None, {"pos": ("NNP", "VBZ", ".")})
    left = masked(sentence, np.array(keep))
    assert left.words == tuple(w if k else BLANK for w, k in zip(sentence.words, keep, strict=True))
    assert left.columns["pos"] == tuple(
        w if k else "" for w, k in zip(sentence.columns["pos"], keep, strict=True)
    )
    assert masked(sentence, np.ones(3, dtype=bool)) is sentence


def test_the_transition_table_is_that_of_the_decoder(tagger: Tagger) -> None:
    found = transitions(tagger)
    assert found.labels == tagger.labels
    np.testing.assert_array_equal(found.scores, tagger.decoder.chain.transitions)
    np.testing.assert_array_equal(found.end, tagger.decoder.chain.end)
    outside, inside = found.labels.index("O"), found.labels.index("I-PER")
    assert found.scores[outside][inside] == found.start[inside] == -np.inf
    assert found.scores[inside][outside] == -np.inf
    assert np.isfinite(found.scores[outside][outside])
