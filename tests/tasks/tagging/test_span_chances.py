"""Spans that the user asks about: their probability is that of enumeration, predicted or not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import logit

from gonie.errors import InputError
from gonie.explaining.methods import erasure, explain_items, flatten
from gonie.features.encoding import Encoding
from gonie.reports.explanation import SpanExplanation, TagExplanation
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.explanation import TagExplanations
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.schemes import allowed
from support.tagger_fixtures import Blanks, WordScorer

TEXT = "George sleeps in New York"


@pytest.fixture
def tagger(encoding: Encoding) -> Tagger:
    """A tagger with a random chain that is not too sure of anything."""
    random = np.random.default_rng(5)
    size = len(encoding.labels)
    decoder = Decoder(
        transitions=random.normal(size=(size, size)),
        start=random.normal(size=size),
        end=random.normal(size=size),
        allowed=allowed(encoding.labels, encoding.scheme),
    )
    scorer = WordScorer(encoding, {"George": "S-PER", "New": "B-LOC", "York": "E-LOC"}, strength=2.0)
    return Tagger(encoding=encoding, tokenizer=Blanks(), scorer=scorer, decoder=decoder)


def explained(tagger: Tagger, *spans: Any, text: str = TEXT) -> TagExplanation:
    model = TagExplanations().explained(tagger, {"spans": list(spans)})
    (found,) = explain_items(model, model.items(text, []))
    return found.explanation


def asked(tagger: Tagger, *spans: Any, text: str = TEXT) -> SpanExplanation:
    (found,) = explained(tagger, *spans, text=text).asked
    return found


def enumerated(tagger: Tagger, start: int, tags: tuple[str, ...], text: str = TEXT) -> float:
    """Return the probability that tokens from ``start`` on have these tags, by enumerating all paths."""
    (sentence,) = Blanks()(text)
    (emissions,) = tagger.emissions([sentence])
    chain, ids = tagger.decoder.chain, [tagger.encoding.label_ids[tag] for tag in tags]
    total = wanted = 0.0
    for path in itertools.product(range(len(tagger.labels)), repeat=len(sentence)):
        score = chain.start[path[0]] + chain.end[path[-1]]
        score += sum(emissions[at, tag] for at, tag in enumerate(path))
        score += sum(chain.transitions[one, other] for one, other in itertools.pairwise(path))
        total += np.exp(score)
        wanted += np.exp(score) if list(path[start : start + len(ids)]) == ids else 0.0
    return wanted / total


@pytest.mark.parametrize(
    ("span", "start", "tags"),
    [
        ("sleeps=PER", 1, ("S-PER",)),
        ("George=PER", 0, ("S-PER",)),
        ("in New=LOC", 2, ("B-LOC", "E-LOC")),
        ("New York=LOC", 3, ("B-LOC", "E-LOC")),
    ],
)
def test_the_probability_is_that_of_enumeration(
    tagger: Tagger, span: str, start: int, tags: tuple[str, ...]
) -> None:
    found = asked(tagger, span)
    assert found.probability == pytest.approx(enumerated(tagger, start, tags), abs=1e-6)
    assert found.asked is not None
    preferred = enumerated(tagger, start, found.asked.tags)
    assert found.asked.probability == pytest.approx(preferred, abs=1e-6)
    one, other = logit(np.array([found.probability, preferred]))
    assert found.asked.gap == pytest.approx(other - one, abs=1e-4)


def test_without_a_type_the_likeliest_is_meant(tagger: Tagger) -> None:
    chances = {label: asked(tagger, f"in New={label}").probability for label in ("LOC", "PER")}
    found = asked(tagger, "in New")
    assert found.label == max(chances, key=lambda label: chances[label])
    assert found.probability == pytest.approx(chances[found.label])


def test_a_predicted_span_is_said_to_be_predicted(tagger: Tagger) -> None:
    explanation = explained(tagger, "George=PER", "sleeps=PER")
    yes, no = explanation.asked
    assert yes.asked is not None
    assert no.asked is not None
    assert [span.start for span in explanation.spans].count(0) == 1
    assert yes.asked.predicted
    assert yes.asked.gap == pytest.approx(0.0)
    assert not no.asked.predicted
    assert no.asked.gap > 0


def test_the_weights_are_those_of_erasure_for_the_asked_span(tagger: Tagger) -> None:
    model = TagExplanations().explained(tagger, {"spans": ["sleeps=PER"]})
    (found,) = explain_items(model, model.items(TEXT, []))
    answer, span = found.answers[0], found.explanation.asked[0]
    assert answer.asked
    assert not any(each.asked for each in found.answers[1:])
    assert (span.start, span.end, span.label) == (1, 2, "PER")
    assert flatten(span.weights[0]).tolist() == pytest.approx(erasure(model, answer).tolist())
    assert len(found.explanation.spans) == len(found.answers) - 1


def test_the_words_of_a_certain_tagger_have_weights(encoding: Encoding) -> None:
    """Its probabilities round to 0 and 1, and log-odds from them would not change with any word."""
    size = len(encoding.labels)
    zeros = {"transitions": np.zeros((size, size)), "start": np.zeros(size), "end": np.zeros(size)}
    words = {"George": "S-PER", "New": "B-LOC", "York": "E-LOC", "sleeps": "O"}
    scorer = WordScorer(encoding, words, strength=100.0)
    rules = allowed(encoding.labels, encoding.scheme)
    sure = Tagger(
        encoding=encoding, tokenizer=Blanks(), scorer=scorer, decoder=Decoder(**zeros, allowed=rules)
    )
    found = explained(sure, "sleeps=PER")
    person = found.spans[0]
    weights = flatten(person.weights[0])
    assert (person.label, person.probability) == ("PER", pytest.approx(1.0, abs=1e-15))
    assert weights[0] > 90
    assert abs(weights[1:]).max() < 1e-6
    (not_tagged,) = found.asked
    assert not_tagged.asked is not None
    assert not_tagged.asked.gap == pytest.approx(200, abs=10)
    assert flatten(not_tagged.weights[0])[1] < -40


def test_a_part_of_a_longer_span_is_named(tagger: Tagger) -> None:
    inside = asked(tagger, "York=LOC")
    assert inside.asked is not None
    assert not inside.asked.predicted
    assert inside.asked.notes == ("It is part of a longer span: 'New York', LOC.",)


def test_a_span_without_tags_in_the_model_is_refused(tagger: Tagger) -> None:
    given = tagger.encoding
    few = Encoding(
        words=given.words,
        chars=given.chars,
        labels=("O", "S-PER", "B-LOC", "E-LOC"),
        scheme=given.scheme,
        normalization=given.normalization,
        jamo=False,
        extractors=(),
        features={},
    )
    size = len(few.labels)
    zeros = {"transitions": np.zeros((size, size)), "start": np.zeros(size), "end": np.zeros(size)}
    scorer = WordScorer(few, {"New": "B-LOC", "York": "E-LOC"})
    small = Tagger(encoding=few, tokenizer=Blanks(), scorer=scorer, decoder=Decoder(**zeros))
    with pytest.raises(InputError, match=r"the model cannot tag 'York' as LOC: it has no tag S-LOC$"):
        asked(small, "York=LOC")
    assert asked(small, "York").label == "PER"


def test_plain_tags_are_asked_about_one_token_at_a_time(plain_tagger: Tagger) -> None:
    found = asked(plain_tagger, "sleeps=NOUN", text="Gonie sleeps")
    assert found.asked is not None
    assert found.asked.tags == ("VERB",)
    assert not found.asked.predicted
    assert asked(plain_tagger, "sleeps", text="Gonie sleeps").label == "VERB"
    with pytest.raises(InputError, match=r"'Gonie sleeps' has more than one token.*Ask about one token"):
        asked(plain_tagger, "Gonie sleeps=NOUN", text="Gonie sleeps")


def test_spans_are_asked_about_in_a_text_and_not_in_files(tagger: Tagger) -> None:
    model = TagExplanations().explained(tagger, {"spans": "George=PER"})
    with pytest.raises(InputError, match="only in a text"):
        list(model.items(None, []))


def test_held_out_sentences_have_no_questions(tagger: Tagger) -> None:
    model = TagExplanations().explained(tagger, {"spans": ["George=PER"]})
    (sentence,) = Blanks()("it sleeps")
    (found,) = explain_items(model, [sentence])
    assert found.explanation.asked == ()
    assert model.size(sentence).tokens == 2
