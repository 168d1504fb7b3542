"""Calibration of spans: if these break, taggers predict other tags, or ship probabilities that mislead."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gonie
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.calibration import FEWEST, FittedTemperature, fit_span_temperature
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.schemes import to_spans
from gonie.text.types import Sentence

WORDS = ("George", "New", "York", "sleeps")
HOT = 2.5


class NoisyScorer:
    """Random scores for each word of a sentence, the same for the same sentence in any batch."""

    at_once = 1

    def __init__(self, tags: int, strength: float) -> None:
        self._tags, self._strength = tags, strength

    def scores(self, batch: Any) -> np.ndarray:
        rows = []
        for ids, length in zip(batch["words"], batch["lengths"], strict=True):
            generator = np.random.default_rng(ids[:length].astype(np.uint32).tolist())
            row = np.zeros((batch["words"].shape[1], self._tags), dtype=np.float32)
            row[:length] = self._strength * generator.normal(size=(length, self._tags))
            rows.append(row)
        return np.stack(rows)


@pytest.fixture
def noisy(tagger: Tagger) -> Tagger:
    """A tagger whose probabilities at the temperature HOT are those of ``sampled``."""
    tags = len(tagger.labels)
    generator = np.random.default_rng(7)
    moves = generator.normal(size=(tags, tags))
    allowed = tagger.decoder._allowed
    return Tagger(
        encoding=tagger.encoding,
        tokenizer=tagger.tokenizer,
        scorer=NoisyScorer(tags, 3.0),
        decoder=Decoder(transitions=moves, start=moves[0], end=moves[1], allowed=allowed),
    )


def texts(number: int, longest: int = 9) -> list[Sentence]:
    generator = np.random.default_rng(1)
    return [
        Sentence(words=tuple(generator.choice(WORDS, size=generator.integers(2, longest))))
        for _ in range(number)
    ]


def sampled(tagger: Tagger, sentences: list[Sentence], temperature: float) -> list[Sentence]:
    """Return the sentences with gold tags drawn from the chain at a temperature."""
    generator = np.random.default_rng(3)
    chain = tagger.decoder.chain.tempered(temperature)
    found = []
    for sentence, scores in zip(sentences, tagger.emissions(sentences), strict=True):
        steps = scores.astype(np.float64) / temperature
        beta = [chain.end]
        for step in steps[:0:-1]:
            beta.append(np.logaddexp.reduce(chain.transitions + step + beta[-1], axis=1))
        beta.reverse()
        tags: list[int] = []
        for t, step in enumerate(steps):
            ahead = (chain.transitions[tags[-1]] if tags else chain.start) + step + beta[t]
            weights = np.exp(ahead - ahead.max())
            tags.append(int(generator.choice(len(weights), p=weights / weights.sum())))
        found.append(replace(sentence, tags=tuple(tagger.labels[tag] for tag in tags)))
    return found


def test_the_temperature_of_the_gold_tags_is_found(noisy: Tagger) -> None:
    """Gold tags drawn from the chain at HOT: the fit finds it, and then probabilities are right."""
    sentences = sampled(noisy, texts(600), HOT)
    found = fit_span_temperature(noisy, noisy.encode(sentences))
    assert found.temperature == pytest.approx(HOT, rel=0.15)
    assert found.problem is None
    assert f"temperature {found.temperature:.2f}" in found.note()

    def gap(tagger: Tagger) -> float:
        spans = [span for tagging in tagger.tag_sentences(sentences) for span in tagging.spans]
        assert len(spans) == found.spans
        golden = [set(to_spans(s.tags or (), noisy.encoding.scheme)) for s in sentences]
        pairs = zip(golden, tagger.tag_sentences(sentences), strict=True)
        right = [span[:3] in gold for gold, tagging in pairs for span in tagging.spans]
        return abs(float(np.mean([span.score for span in spans]) - np.mean(right)))

    assert gap(noisy.with_temperature(found.temperature)) < 0.03 < gap(noisy)


@pytest.mark.parametrize("temperature", [0.2, 1.7, 5.0])
@pytest.mark.parametrize(("by", "bias"), [("viterbi", {}), ("posterior", {}), ("viterbi", {"PER": 1.0})])
def test_a_temperature_changes_scores_and_no_tags(
    noisy: Tagger, temperature: float, by: Any, bias: dict[str, float]
) -> None:
    sentences = texts(100)
    before = noisy.with_decoding(by, bias).tag_sentences(sentences)
    after = noisy.with_temperature(temperature).with_decoding(by, bias).tag_sentences(sentences)
    assert [tagging.tags for tagging in after] == [tagging.tags for tagging in before]
    pairs = [
        (one.score, other.score)
        for first, second in zip(before, after, strict=True)
        for one, other in zip(first.spans, second.spans, strict=True)
    ]
    assert all(one != other for one, other in pairs)
    if by == "viterbi" and not bias:  # the best sequence gets surer as it cools
        ones, others = zip(*pairs, strict=True)
        assert (np.mean(ones) < np.mean(others)) == (temperature < 1)


def test_all_probabilities_are_those_of_one_distribution(noisy: Tagger) -> None:
    """Tokens, spans and n-best taggings: a span of one token has the probability of its tag."""
    hot = noisy.with_temperature(2.0).with_nbest(100)  # all taggings of two tokens
    for tagging in hot.tag_sentences(texts(10, 3)):
        assert sum(candidate.probability for candidate in tagging.candidates) == pytest.approx(1.0)
        for start, end, _, score in tagging.spans:
            with_span = [
                each.probability
                for each in tagging.candidates
                if each.tags[start:end] == tagging.tags[start:end]
            ]
            assert sum(with_span) == pytest.approx(score)
            if end - start == 1:
                assert score == pytest.approx(tagging.scores[start])


def test_a_temperature_is_kept_with_other_settings(noisy: Tagger) -> None:
    hot = noisy.with_temperature(2.0)
    for changed in (hot.with_decoding("posterior"), hot.with_nbest(3), hot.with_settings(hot.settings())):
        assert changed.temperature == 2.0
    nbest = noisy.with_nbest(2).with_temperature(3.0)
    assert (nbest.temperature, nbest.settings()["nbest"]) == (3.0, 2)
    (tagging,) = nbest.tag_sentences(texts(1))
    (other,) = noisy.with_temperature(3.0).with_nbest(2).tag_sentences(texts(1))
    assert tagging == other


def test_a_pickled_tagger_keeps_its_temperature(toy_run: Path) -> None:
    tagger = gonie.load(toy_run)
    assert pickle.loads(pickle.dumps(tagger)).temperature == tagger.temperature
    assert pickle.loads(pickle.dumps(tagger.with_temperature(1.25))).temperature == 1.25


def test_few_spans_are_not_fitted_and_noted(noisy: Tagger) -> None:
    sentences = sampled(noisy, texts(3, 3), 1.0)
    found = fit_span_temperature(noisy, noisy.encode(sentences))
    assert found.temperature == 1
    assert found.spans < FEWEST
    assert f"at least {FEWEST} are needed" in found.note()


def test_a_problem_is_told() -> None:
    assert FittedTemperature(problem="no dev").note() == "probabilities are not calibrated: no dev"


def test_a_temperature_at_its_limit_is_a_warning(noisy: Tagger) -> None:
    """With wrong spans alone, no temperature makes their probabilities low enough."""
    sentences = [replace(text, tags=("O",) * len(text.words)) for text in texts(60)]
    found = fit_span_temperature(noisy, noisy.encode(sentences))
    assert found.note() == (
        f"warning: calibrated on {found.spans} predicted dev spans, but the temperature is at its upper "
        "limit, 10.00: probabilities are not reliable"
    )
    assert FittedTemperature(9.9, 30).note() == "calibrated on 30 predicted dev spans: temperature 9.90"


def test_long_sentences_are_scored_in_windows_for_the_fit(noisy: Tagger) -> None:
    """The fit would see other scores than predictions do."""
    long = Sentence(words=WORDS * 300)
    encoded = noisy.encode([long, texts(1)[0]])
    own, alone = noisy.encoded_emissions(encoded, [0, 1]), noisy.emissions([long, texts(1)[0]])
    for one, other in zip(own, alone, strict=True):
        assert np.array_equal(one, other)
