"""Bags of n-grams: the vectorised encoding must equal n-grams extracted as strings."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features import ngrams as module
from gonie.features.ngrams import Lengths, NGramBag, NGrams
from gonie.features.vocabulary import UNKNOWN, Vocabulary
from gonie.text.fold import fold_text

text = st.text(st.sampled_from("abA .\t\n가\U0001f600\ud800İ"), max_size=12)
texts = st.lists(text, max_size=6)
kinds = st.sampled_from([((1, 4), (0, 0)), ((2, 3), (1, 2)), ((0, 0), (2, 2)), ((1, 1), (1, 1))])


def test_n_grams_of_a_text_are_extracted() -> None:
    assert NGrams(chars=(1, 2)).extract(" So \n so") == [*"so so", "so", "o ", " s", "so"]
    words = NGrams(chars=(0, 0), words=(1, 2), lowercase=False).extract("It's ok")
    assert words == ["\tIt", "\t'", "\ts", "\tok", "\tIt '", "\t' s", "\ts ok"]
    assert NGrams().extract("") == []
    assert NGrams().extract("ab") == ["a", "b", "ab"], "shorter than the longest n-gram"


@settings(deadline=None)
@given(texts, texts, kinds, st.integers(1, 3), st.none() | st.integers(1, 8))
def test_a_bag_equals_the_n_grams_extracted_as_strings(
    training: list[str],
    use: list[str],
    lengths: tuple[Lengths, Lengths],
    min_count: int,
    max_size: int | None,
) -> None:
    ngrams = NGrams(chars=lengths[0], words=lengths[1], lowercase=lengths[1] == (0, 0))
    bag = NGramBag.fit(training, ngrams=ngrams, min_count=min_count, max_size=max_size)
    assert bag.vocabulary == Vocabulary.from_sequences(
        map(ngrams.extract, training), min_count=min_count, max_size=max_size
    )
    ids, offsets = bag.encode(use)
    assert (ids.dtype, len(offsets)) == (np.int32, len(use) + 1)
    for row, given_text in enumerate(use):
        known = bag.vocabulary.ids(ngrams.extract(given_text))
        assert ids[offsets[row] : offsets[row + 1]].tolist() == known[known != UNKNOWN].tolist()


def test_encoding_in_blocks_gives_the_same_bag(monkeypatch: pytest.MonkeyPatch) -> None:
    many = ["ab", "", "bab", "zz", "a"]
    bag = NGramBag.fit(many[:3], ngrams=NGrams(words=(1, 1)))
    whole = bag.encode(many)
    monkeypatch.setattr(module, "BLOCK", 2)
    for one, other in zip(whole, bag.encode(iter(many)), strict=True):
        assert one.tolist() == other.tolist()


def test_a_saved_bag_encodes_the_same_way() -> None:
    bag = NGramBag.fit(["good film", "bad film"], ngrams=NGrams(chars=(2, 3), words=(1, 2), lowercase=False))
    again = NGramBag.from_json(json.loads(json.dumps(bag.to_json())))
    assert again.vocabulary == bag.vocabulary
    for one, other in zip(bag.encode(["A good film"]), again.encode(["A good film"]), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    "lengths", [{"chars": (2, 1)}, {"chars": (0, 3)}, {"words": (-1, 2)}, {"chars": (0, 0)}]
)
def test_invalid_lengths_are_refused(lengths: dict[str, Lengths]) -> None:
    with pytest.raises(InputError, match="invalid n-gram lengths"):
        NGrams(**lengths)


@settings(deadline=None)
@given(st.text("ab \t\n,.AİΣς한é", max_size=20), st.booleans())
def test_places_point_to_the_n_grams_in_the_text(text: str, lowercase: bool) -> None:
    """Explanations highlight n-grams in the original text, not in its normalised form."""
    ngrams = NGrams(chars=(1, 3), words=(1, 2), lowercase=lowercase)
    grams, places = ngrams.extract(text), ngrams.places(text)
    assert len(grams) == len(places)
    for gram, (start, end) in zip(grams, places, strict=True):
        shown = text[start:end].lower() if lowercase else text[start:end]
        if gram.startswith("\t"):
            assert len(gram[1:].replace(" ", "")) <= len("".join(shown.split()))
        elif "İ" not in text and "Σ" not in text:
            assert " ".join(shown.split()) == gram.strip()


def test_places_cover_only_known_n_grams() -> None:
    bag = NGramBag.fit(["a b"], ngrams=NGrams(chars=(1, 2), words=(1, 1)))
    ids, _ = bag.encode(["B  x A"])
    known = [bag.vocabulary.string(id) for id in ids.tolist()]
    assert known == ["b", " ", " ", "a", "\tb", "\ta"]
    assert bag.places("B  x A").tolist() == [[0, 1], [2, 3], [4, 5], [5, 6], [0, 1], [5, 6]]


@settings(deadline=None)
@given(st.text("aé 한각.\nＡ", max_size=15))
def test_folded_n_grams_are_placed_in_the_text_as_written(text: str) -> None:
    ngrams = NGrams(chars=(1, 3), words=(1, 2), lowercase=False, fold=True)
    written = unicodedata.normalize("NFD", text)
    assert ngrams.extract(written) == ngrams.extract(text)
    for gram, (start, end) in zip(ngrams.extract(written), ngrams.places(written), strict=True):
        if not gram.startswith("\t"):
            assert " ".join(fold_text(written[start:end]).split()) == gram.strip()


def test_a_saved_bag_remembers_whether_it_folds() -> None:
    bag = NGramBag.fit(["한글"], ngrams=NGrams(fold=True))
    decomposed = unicodedata.normalize("NFD", "한글")
    again = NGramBag.from_json(json.loads(json.dumps(bag.to_json())))
    assert again.encode([decomposed])[0].tolist() == bag.encode(["한글"])[0].tolist()
    assert bag.places(decomposed).tolist() == [[0, 3], [3, 6], [0, 6]]
    saved = bag.to_json()
    del saved["ngrams"]["fold"]
    assert not len(NGramBag.from_json(saved).encode([decomposed])[0])
