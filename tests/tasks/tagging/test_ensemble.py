"""Ensembles of taggers: if these break, an ensemble is not the mean of its members."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gonie.errors import BundleError, InputError
from gonie.features.encoding import Encoding
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging import tagger as tagger_module
from gonie.tasks.tagging.ensemble import EnsembleTagger, combine_taggers
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.uncertainty import By, sentence_uncertainties, separate
from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.types import Sentence

WORDS = ("George", "New", "York", "sleeps", "today")


class NoisyScorer:
    """Random scores for each word of a sentence, the same for the same sentence in any batch."""

    at_once = 1

    def __init__(self, tags: int, seed: int, strength: float = 2.0) -> None:
        self._tags, self._seed, self._strength = tags, seed, strength

    def scores(self, batch: Any) -> np.ndarray:
        rows = np.zeros((*batch["words"].shape, self._tags), dtype=np.float32)
        for row, ids, length in zip(rows, batch["words"], batch["lengths"], strict=True):
            generator = np.random.default_rng([self._seed, *ids[:length].tolist()])
            row[:length] = self._strength * generator.normal(size=(length, self._tags))
        return rows


def member(tagger: Tagger, seed: int, temperature: float = 1.0) -> Tagger:
    tags = len(tagger.labels)
    moves = np.random.default_rng(seed).normal(size=(tags, tags))
    decoder = Decoder(
        transitions=moves,
        start=moves[0],
        end=moves[1],
        allowed=tagger.decoder._allowed,
        temperature=temperature,
    )
    return Tagger(
        encoding=tagger.encoding,
        tokenizer=tagger.tokenizer,
        scorer=NoisyScorer(tags, seed),
        decoder=decoder,
    )


@pytest.fixture
def members(tagger: Tagger) -> list[Tagger]:
    return [member(tagger, seed, temperature) for seed, temperature in ((1, 1.0), (2, 2.5), (3, 0.7))]


def texts(number: int = 60, longest: int = 9) -> list[Sentence]:
    generator = np.random.default_rng(1)
    return [
        Sentence(words=tuple(generator.choice(WORDS, size=generator.integers(1, longest))))
        for _ in range(number)
    ]


@pytest.mark.parametrize("copies", [1, 4])
@pytest.mark.parametrize("bias", [{}, {"PER": 1.5}, {"*": -1.0}])
def test_one_tagger_and_copies_of_it_are_the_tagger(
    members: list[Tagger], copies: int, bias: dict[str, float]
) -> None:
    for own in members:
        alone = own.with_decoding(bias=bias).tag_sentences(texts())
        together = combine_taggers([own] * copies).with_decoding(bias=bias).tag_sentences(texts())
        for one, other in zip(alone, together, strict=True):
            assert one.tags == other.tags
            assert one.scores == pytest.approx(other.scores)
            assert [span[:3] for span in one.spans] == [span[:3] for span in other.spans]
            assert [span.score for span in one.spans] == pytest.approx([span.score for span in other.spans])
            assert other.entropies is not None
            assert other.entropies.mutual_information == pytest.approx(0.0, abs=1e-9)


def test_posterior_decoding_of_one_tagger_is_its_own(members: list[Tagger]) -> None:
    own = members[0]
    alone = own.with_decoding("posterior").tag_sentences(texts())
    together = combine_taggers([own]).with_decoding("posterior").tag_sentences(texts())
    assert [tagging.tags for tagging in alone] == [tagging.tags for tagging in together]


def test_probabilities_are_means_over_the_n_best_taggings(members: list[Tagger]) -> None:
    """All taggings of short sentences, with their probabilities by each member at its temperature."""
    short = [Sentence(words=words) for words in (("George",), ("New", "York"), ("York", "today"))]
    taggings = combine_taggers(members).tag_sentences(short)
    candidates = [own.with_nbest(100).tag_sentences(short) for own in members]
    for at, tagging in enumerate(taggings):
        chances: dict[tuple[str, ...], float] = {}
        for own in candidates:
            for each in own[at].candidates:
                chances[each.tags] = chances.get(each.tags, 0.0) + each.probability / len(members)
        assert sum(chances.values()) == pytest.approx(1.0, abs=1e-5)  # candidates are rounded
        for t, (tag, score) in enumerate(zip(tagging.tags, tagging.scores, strict=True)):
            assert score == pytest.approx(sum(p for y, p in chances.items() if y[t] == tag), abs=1e-5)
        for start, end, _, score in tagging.spans:
            due = sum(p for y, p in chances.items() if y[start:end] == tagging.tags[start:end])
            assert score == pytest.approx(due, abs=1e-5)


@pytest.mark.parametrize("by", ["viterbi", "posterior"])
def test_tags_are_valid_and_do_not_depend_on_the_order_or_the_batch(members: list[Tagger], by: Any) -> None:
    given = combine_taggers(members).with_decoding(by).tag_sentences(texts())
    turned = combine_taggers(members[::-1]).with_decoding(by).tag_sentences(texts())
    alone = [combine_taggers(members).with_decoding(by).tag_sentences([text])[0] for text in texts()]
    follow = {"B": "IE", "I": "IE", "E": "BSO", "S": "BSO", "O": "BSO"}
    for one, other, single in zip(given, turned, alone, strict=True):
        assert one.tags == other.tags == single.tags
        assert one.scores == pytest.approx(other.scores)
        assert one.scores == pytest.approx(single.scores)
        marks = ["O", *(tag[0] for tag in one.tags), "O"]
        assert all(b in follow[a] for a, b in pairwise(marks))


def test_members_that_disagree_have_mutual_information(members: list[Tagger]) -> None:
    taggings = combine_taggers(members).tag_sentences(texts())
    for tagging in taggings:
        assert tagging.entropies is not None
        total, data, information = tagging.entropies
        assert 0 < information <= total <= np.log(len(members[0].labels))
        assert data <= np.log(len(members[0].labels))


def test_an_ensemble_is_called_like_a_tagger(members: list[Tagger]) -> None:
    told: list[tuple[int, int]] = []
    ensemble = combine_taggers(members, lambda done, number: told.append((done, number)))
    document = ensemble("George sleeps. New York")
    assert [token.text for token in document.tokens] == ["George", "sleeps.", "New", "York"]
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert list(ensemble.pipe(["George sleeps. New York"])) == [document]
    assert ensemble.tag_tokens([["George", "sleeps"], []])[1].tokens == ()
    assert repr(ensemble).startswith("<EnsembleTagger(, members=3): 2 types")


def test_long_sentences_are_tagged_in_windows_and_chunks(
    members: list[Tagger], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Sentence(words=WORDS * 500)
    whole = combine_taggers(members).tag_sentences([long])[0]
    assert whole.windows > 1
    alone = members[0].tag_sentences([long])[0]
    assert combine_taggers(members[:1]).tag_sentences([long])[0].tags == alone.tags
    monkeypatch.setattr(tagger_module, "CHUNK", 1500)
    parts = combine_taggers(members).tag_sentences([long])[0]
    assert parts.tags == whole.tags
    assert parts.entropies == pytest.approx(whole.entropies)


def test_sentences_without_words_are_certain(members: list[Tagger]) -> None:
    empty, full = combine_taggers(members).tag_sentences([Sentence(words=()), texts()[0]])
    assert empty.tags == ()
    assert empty.entropies == (0.0, 0.0, 0.0)
    assert full.tags
    assert combine_taggers(members).tag_sentences([]) == []


@pytest.mark.parametrize("by", ["lowest", "total_entropy", "data_entropy", "mutual_information"])
def test_uncertainties_of_sentences_are_those_of_the_ensemble(members: list[Tagger], by: By) -> None:
    ensemble = combine_taggers(members)
    found = sentence_uncertainties(ensemble, texts(), by=by)
    taggings = ensemble.tag_sentences(texts())
    due = [
        1 - min(each.scores) if by == "lowest" else each.entropies._asdict()[by]  # type: ignore[union-attr]
        for each in taggings
    ]
    assert found == pytest.approx(due)
    single = sentence_uncertainties(members[0], texts(), by=by)
    assert (single > 0).any() == (by != "mutual_information")
    assert 0 <= separate(ensemble, texts(20), texts(20), by=by).auroc <= 1


def test_an_ensemble_has_no_sequence_probability(members: list[Tagger]) -> None:
    with pytest.raises(InputError, match=r"no probability of a sequence: average"):
        sentence_uncertainties(combine_taggers(members), texts(), by="average")


def test_other_tags_are_refused_with_the_difference(
    tagger: Tagger, plain_encoding: Encoding, make_predictor: Callable[..., Tagger], word_scorer: Any
) -> None:
    other = make_predictor(plain_encoding, word_scorer(plain_encoding, {}))
    with pytest.raises(InputError, match=r"must have the same tags: .* differ in B-LOC, .*NOUN"):
        combine_taggers([tagger, other])


def test_another_tokenizer_is_refused(tagger: Tagger) -> None:
    other = member(tagger, 1)
    other.tokenizer = EnglishTokenizer()
    other.tokenizer.to_json = lambda: {"language": "en", "unit": "letter"}  # type: ignore[method-assign]
    with pytest.raises(InputError, match=r"same tokenizer: .* differ in unit = letter, unit = word"):
        combine_taggers([tagger, other])


def test_an_ensemble_is_not_pickled(members: list[Tagger]) -> None:
    ensemble = combine_taggers(members)
    assert isinstance(ensemble, EnsembleTagger)
    with pytest.raises(BundleError, match="an ensemble cannot be pickled"):
        pickle.dumps(ensemble)
