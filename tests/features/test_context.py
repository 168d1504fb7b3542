"""Context features, compared with a naive loop. A collision would mix the weights of two features."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.context import Context
from gonie.text.types import Sentence

WORDS = st.lists(
    st.sampled_from(["a", "b", "a b", "\\", "\\<", "\\_", " ", "", "<s>", "=", "[0]="]), max_size=6
)


def naive(values: tuple[str, ...], place: int, *, window: int, longest: int) -> set[tuple[object, ...]]:
    """Return the n-grams around ``place`` as tuples of positions and words, with markers beyond the ends."""
    grams: set[tuple[object, ...]] = set()
    for n in range(1, longest + 1):
        for start in range(-window, window - n + 2):
            places = range(start, start + n)
            seen = tuple(
                values[place + p]
                if 0 <= place + p < len(values)
                else ("before" if place + p < 0 else "after",)
                for p in places
            )
            grams.add((tuple(places), seen))
    return grams


def test_the_example_of_the_docstring_holds() -> None:
    rows = Context(window=1).extract(Sentence(words=("Gonie", "sleeps", "soundly")))
    assert rows[1] == [
        "word[-1]=Gonie",
        "word[0]=sleeps",
        "word[1]=soundly",
        "word[-1,0]=Gonie sleeps",
        "word[0,1]=sleeps soundly",
    ]
    assert rows[0][:2] == ["word[-1]=\\<", "word[0]=Gonie"]


@settings(deadline=None, max_examples=200)
@given(WORDS, st.integers(0, 3), st.integers(1, 4))
def test_there_is_one_feature_per_distinct_ngram(words: list[str], window: int, grams: int) -> None:
    sentence = Sentence(words=tuple(words), columns={"pos": tuple(words)})
    rows = Context(window=window, columns=("pos",), grams=grams).extract(sentence)
    assert len(rows) == len(words)
    for place, row in enumerate(rows):
        word_grams = naive(sentence.words, place, window=window, longest=grams)
        pos_grams = naive(sentence.words, place, window=window, longest=3)
        assert len(row) == len(set(row)) == len(word_grams) + len(pos_grams)
        assert sum(feature.startswith("pos[") for feature in row) == len(pos_grams)


@settings(deadline=None, max_examples=300)
@given(WORDS, WORDS)
def test_two_tokens_share_exactly_the_features_of_common_ngrams(one: list[str], two: list[str]) -> None:
    context = Context(window=1)
    left, right = tuple(one), tuple(two)
    rows = context.extract(Sentence(words=left)), context.extract(Sentence(words=right))
    for i, own in enumerate(rows[0]):
        for j, other in enumerate(rows[1]):
            shared = naive(left, i, window=1, longest=2) & naive(right, j, window=1, longest=2)
            assert len(set(own) & set(other)) == len(shared)


def test_a_window_of_0_gives_the_word_itself() -> None:
    assert Context(window=0).extract(Sentence(words=("a", "b"))) == [["word[0]=a"], ["word[0]=b"]]


def test_an_empty_sentence_has_no_rows() -> None:
    assert Context().extract(Sentence(words=())) == []


@pytest.mark.parametrize(
    ("columns", "message"), [({}, "no column 'pos'"), ({"pos": ("X",)}, "expected 2 values in column 'pos'")]
)
def test_a_missing_or_short_column_is_refused_with_its_line(
    columns: dict[str, tuple[str, ...]], message: str
) -> None:
    sentence = Sentence(words=("a", "b"), columns=columns, path="train.conll", line=7)
    with pytest.raises(InputError, match=rf"train\.conll:7: {message}"):
        Context(columns=("pos",)).extract(sentence)


@pytest.mark.parametrize("columns", [("word",), ("a[0]",), ("pos", "pos"), ("",)])
def test_columns_whose_features_could_collide_are_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="must be distinct"):
        Context(columns=columns)


def test_a_negative_window_is_refused() -> None:
    with pytest.raises(InputError, match="negative context window: -1"):
        Context(window=-1)


@pytest.mark.parametrize("grams", [2, 4])
def test_saved_settings_give_the_same_features(grams: int) -> None:
    context = Context(window=3, columns=("pos", "chunk"), grams=grams)
    again = Context.from_json(json.loads(json.dumps(context.to_json())))
    sentence = Sentence(words=("a", "b"), columns={"pos": ("X", "Y"), "chunk": ("O", "O")})
    assert again.extract(sentence) == context.extract(sentence)
