"""If these break, n-best candidates have wrong probabilities or are in the wrong order."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.encoding import Encoding
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging import candidates
from gonie.tasks.tagging.candidates import MOST, Candidates
from gonie.tasks.tagging.tagger import CHUNK, MAX_TOKENS, Tagger
from gonie.text.schemes import Scheme, allowed, problems, to_spans
from gonie.text.types import Sentence, Span

BIOES = Scheme(kind="BIOES")
LABELS = ("O", "S-PER", "B-PER", "E-PER")
WORDS = ("a", "b", "c", "d")

Parts = tuple[Any, Any, Any]
"""Transitions (K, K), start (K,), end (K,)."""


def chain(chance: np.random.Generator) -> Parts:
    size = len(LABELS)
    return chance.normal(size=(size, size)), chance.normal(size=size), chance.normal(size=size)


def enumerated(emissions: Any, parts: Parts) -> dict[tuple[str, ...], float]:
    """Return the probability of every valid sequence by enumeration, most likely first."""
    transitions, start, end = parts
    weights = {}
    for path in product(range(len(LABELS)), repeat=len(emissions)):
        tags = tuple(LABELS[tag] for tag in path)
        if not problems(tags, BIOES):
            score = start[path[0]] + end[path[-1]] + sum(transitions[move] for move in pairwise(path))
            weights[tags] = np.exp(score + sum(emissions[t, tag] for t, tag in enumerate(path)))
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return {tags: weight / sum(weights.values()) for tags, weight in ranked}


def lister(parts: Parts, most: int) -> Candidates:
    transitions, start, end = parts
    decoder = Decoder(transitions=transitions, start=start, end=end, allowed=allowed(LABELS, BIOES))
    return Candidates(decoder=decoder, labels=LABELS, scheme=BIOES, most=most)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, MOST))
def test_candidates_are_the_most_likely_sequences(seed: int, lengths: list[int], most: int) -> None:
    chance = np.random.default_rng(seed)
    parts = chain(chance)
    emissions = chance.normal(size=(len(lengths), max(lengths), len(LABELS))).astype(np.float32)
    sentences = [Sentence(WORDS[:length]) for length in lengths]
    found = lister(parts, most)(sentences, emissions, np.array(lengths))
    for own, scores, length in zip(found, emissions, lengths, strict=True):
        wanted = enumerated(scores[:length].astype(float), parts)
        assert [candidate.tags for candidate in own] == list(wanted)[:most]
        assert [candidate.probability for candidate in own] == pytest.approx(list(wanted.values())[:most])
        if len(wanted) <= most:
            assert sum(candidate.probability for candidate in own) == pytest.approx(1.0)
        for candidate in own:
            assert [(span.text, span.label) for span in candidate.spans] == [
                (" ".join(WORDS[start:end]), label) for start, end, label in to_spans(candidate.tags, BIOES)
            ]


def test_candidates_do_not_depend_on_the_search_batch_size(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    find, lengths = lister(chain(chance), 5), np.array([4, 1, 3, 2, 4])
    emissions = chance.normal(size=(5, 4, len(LABELS))).astype(np.float32)
    sentences = [Sentence(WORDS[:length]) for length in lengths]
    together = find(sentences, emissions, lengths)
    for cells in (1, 200):
        monkeypatch.setattr(candidates, "CELLS", cells)
        assert find(sentences, emissions, lengths) == together


@pytest.mark.parametrize("most", [0, -1, MOST + 1])
def test_nbest_out_of_range_is_refused(tagger: Tagger, most: int) -> None:
    with pytest.raises(InputError, match=f"nbest must be from 1 to {MOST}: {most}"):
        tagger.with_nbest(most)


def test_every_sentence_of_a_text_has_its_own_candidates(tagger: Tagger) -> None:
    text = "Hello  George . I see New York ."
    document, plain = tagger.with_nbest(3)(text), tagger(text)
    assert document.nbest is not None
    first, second = document.nbest
    assert (len(first), len(second)) == (3, 3)
    assert (document.tokens, document.spans) == (plain.tokens, plain.spans)
    assert first[0].tags + second[0].tags == document.tags, "the best is what the tagger says"
    assert first[0].spans == (Span(start=7, end=13, label="PER", text="George"),)
    assert second[0].spans == (Span(start=22, end=30, label="LOC", text="New York"),)
    assert plain.nbest is None, "nobody asked"


def test_given_words_have_candidates_and_empty_sentences_have_none(tagger: Tagger) -> None:
    listing = tagger.with_nbest(MOST)
    one, none = listing.tag_tokens([["George"], []])
    assert one.nbest is not None
    ((best, *others),) = one.nbest
    assert best.tags == ("S-PER",)
    assert sum(candidate.probability for candidate in (best, *others)) == pytest.approx(1.0)
    assert none.nbest == listing("  ").nbest == ()


def test_candidates_do_not_depend_on_the_other_texts(tagger: Tagger) -> None:
    listing = tagger.with_nbest(4)
    texts = [" ".join(["in", "New", "York", "George"] * length) for length in (9, 1, 30, 4, 2)]
    for document, text in zip(listing.pipe(texts), texts, strict=True):
        assert document.nbest is not None
        ((together,), (alone,)) = document.nbest, listing(text).nbest or ()
        assert [(c.tags, c.spans) for c in together] == [(c.tags, c.spans) for c in alone]
        assert [c.probability for c in together] == pytest.approx([c.probability for c in alone])


def test_decoding_options_do_not_change_the_candidates(tagger: Tagger) -> None:
    """Candidates have the probabilities of the model, whatever the bias."""
    text, bias = "George sleeps", {"PER": -60.0}
    turned = tagger.with_decoding("posterior", bias).with_nbest(2)(text)
    assert turned.tags == ("O", "O")
    assert turned.nbest == tagger.with_nbest(2)(text).nbest
    assert tagger.with_nbest(2).with_decoding(bias=bias)(text) == tagger.with_decoding(bias=bias).with_nbest(
        2
    )(text)


def test_candidates_of_a_windowed_sentence_cover_the_whole_sentence(
    encoding: Encoding, word_scorer: Any, make_predictor: Any
) -> None:
    """The two best candidates differ at the one uncertain word, far beyond the first window."""
    scorer = word_scorer(encoding, {"New": "B-LOC", "York": "E-LOC"}, strength=60.0)
    doubt = scorer.table[encoding.word_id("George")]
    doubt[encoding.label_ids["S-PER"]], doubt[encoding.label_ids["O"]] = 31.0, 30.0
    words, at = ["New", "York", "a"] * MAX_TOKENS, 2000
    words[at] = "George"
    (tagging,) = make_predictor(encoding, scorer).with_nbest(2).tag_sentences([Sentence(tuple(words))])
    best, second = tagging.candidates
    assert tagging.windows > 1
    assert best.tags == tagging.tags
    assert [t for t, (a, b) in enumerate(zip(best.tags, second.tags, strict=True)) if a != b] == [at]
    assert best.probability / second.probability == pytest.approx(np.e, rel=1e-4)
    assert best.probability + second.probability == pytest.approx(1.0, abs=1e-6)


def test_a_sentence_longer_than_a_chunk_has_no_candidates(tagger: Tagger) -> None:
    """The tables of the search could exceed the memory; the sentence is still tagged."""
    words = ["George", "sleeps", "."] * (CHUNK // 3 + 1)
    (tagging,) = tagger.with_nbest(3).tag_sentences([Sentence(tuple(words))])
    assert tagging == tagger.tag_sentences([Sentence(tuple(words))])[0]
    assert tagging.candidates == ()
