"""Vocabularies: ids must be stable, or a saved model would confuse its words."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import BundleError
from gonie.features.vocabulary import PADDING, UNKNOWN, Vocabulary, tally

SEQUENCES = st.lists(st.lists(st.text(max_size=3), max_size=8), max_size=8)


@settings(deadline=None, max_examples=200)
@given(SEQUENCES, st.integers(1, 3), st.one_of(st.none(), st.integers(0, 5)))
def test_a_vocabulary_equals_a_naive_count(
    sequences: list[list[str]], min_count: int, max_size: int | None
) -> None:
    vocabulary = Vocabulary.from_sequences(sequences, min_count=min_count, max_size=max_size)
    flat = [string for sequence in sequences for string in sequence]
    ranked = sorted({s for s in flat if flat.count(s) >= min_count}, key=lambda s: (-flat.count(s), s))[
        :max_size
    ]
    assert vocabulary.strings == ranked
    assert len(vocabulary) == vocabulary.trained == len(ranked) + 2
    for place, string in enumerate(ranked):
        assert vocabulary.id(string) == place + 2
        assert vocabulary.string(place + 2) == string
        assert vocabulary.count(place + 2) == flat.count(string)
    assert vocabulary.count(UNKNOWN) == sum(string not in ranked for string in flat)
    assert vocabulary.tokens == len(flat)


@settings(deadline=None, max_examples=100)
@given(SEQUENCES, st.randoms())
def test_the_order_of_the_corpus_does_not_matter(sequences: list[list[str]], shuffler: random.Random) -> None:
    shuffled = sequences[:]
    shuffler.shuffle(shuffled)
    assert Vocabulary.from_sequences(shuffled) == Vocabulary.from_sequences(sequences)


@settings(deadline=None, max_examples=100)
@given(SEQUENCES, st.lists(st.text(max_size=3)))
def test_a_saved_vocabulary_is_restored(sequences: list[list[str]], more: list[str]) -> None:
    vocabulary = Vocabulary.from_sequences(sequences, min_count=2).extended(more)
    again = Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json())))
    assert again == vocabulary
    assert again.trained == vocabulary.trained
    assert again.count(UNKNOWN) == vocabulary.count(UNKNOWN)


def test_counting_accepts_a_generator() -> None:
    stream = (("a", "b") for _ in range(1000))
    assert tally(stream) == Counter(a=1000, b=1000)


def test_ids_of_strings_are_int32_and_1_if_unknown() -> None:
    vocabulary = Vocabulary.from_sequences([["b", "a", "b"]])
    ids = vocabulary.ids(["a", "?", "b"])
    assert ids.dtype == np.int32
    assert ids.tolist() == [3, UNKNOWN, 2]
    assert vocabulary.ids("ab").tolist() == [3, 2]
    assert vocabulary.ids([]).tolist() == []


def test_words_spelled_like_reserved_ones_have_their_own_ids() -> None:
    vocabulary = Vocabulary.from_sequences([["<unknown>", "<padding>", "<unknown>"]])
    assert vocabulary.id("<unknown>") == 2
    assert vocabulary.id("<padding>") == 3
    assert vocabulary.string(UNKNOWN) == "<unknown>"
    assert vocabulary.string(PADDING) == "<padding>"


def test_the_first_known_key_is_used() -> None:
    vocabulary = Vocabulary.from_sequences([["apple", "0000"]])
    assert vocabulary.first(("Apple", "apple")) == vocabulary.id("apple")
    assert vocabulary.first(("1999", "0000", "apple")) == vocabulary.id("0000")
    assert vocabulary.first(("pear",)) == UNKNOWN


def test_singletons_are_exactly_the_words_seen_once() -> None:
    vocabulary = Vocabulary.from_counts({"a": 2, "b": 1, "c": 1}, max_size=2).extended(["z"])
    assert vocabulary.count(UNKNOWN) == 1  # "c" is seen once, but id 1 is not a singleton
    assert vocabulary.singletons().tolist() == [False, False, False, True, False]


def test_extending_keeps_every_id_and_adds_each_new_word_once() -> None:
    vocabulary = Vocabulary.from_sequences([["a", "b", "b"]])
    longer = vocabulary.extended(["c", "a", "c", "d"])
    assert longer.strings == ["b", "a", "c", "d"]
    assert longer.trained == len(vocabulary) == 4
    assert longer.counts.tolist() == [0, 0, 2, 1, 0, 0]
    assert "c" not in vocabulary


def test_words_with_count_0_are_left_out() -> None:
    assert Vocabulary.from_counts({"a": 0, "b": 1}, min_count=0).strings == ["b"]


def test_counts_cannot_be_changed_from_outside() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Vocabulary.from_sequences([["a"]]).counts[2] = 5


def test_vocabularies_differ_by_strings_or_counts() -> None:
    one = Vocabulary.from_counts({"a": 1})
    assert one != Vocabulary.from_counts({"a": 2})
    assert one != Vocabulary.from_counts({"b": 1})
    assert one != "a"


def test_a_damaged_bundle_is_refused() -> None:
    with pytest.raises(BundleError, match="2 strings, 1 of them distinct"):
        Vocabulary.from_json({"strings": ["a", "a"], "counts": [1, 1], "unknown": 0})
    with pytest.raises(BundleError, match="2 counts"):
        Vocabulary.from_json({"strings": ["a"], "counts": [1, 1], "unknown": 0})


@pytest.mark.parametrize("id", [-1, 3])
def test_an_id_out_of_range_is_refused(id: int) -> None:
    with pytest.raises(IndexError, match="out of range: 0 to 2"):
        Vocabulary.from_counts({"a": 1}).string(id)
