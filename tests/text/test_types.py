"""Sentences, tokens and documents: word offsets, and tokens stored by column and created on access."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.text.types import Document, Morpheme, Sentence, Token, Tokens


@given(st.lists(st.text("ab", min_size=1, max_size=5), max_size=8))
def test_offsets_point_to_the_words_in_the_surface(words: list[str]) -> None:
    """An offset that is off by one would mark the wrong characters in every tool that shows a span."""
    sentence = Sentence(words=tuple(words))
    assert [sentence.surface[start:end] for start, end in sentence.offsets()] == words
    starts, ends = sentence.edges()
    assert list(zip(starts, ends, strict=True)) == sentence.offsets()


def test_a_sentence_with_a_text_uses_its_offsets() -> None:
    sentence = Sentence(words=("a", "b"), text="a  b", starts=(0, 3), ends=(1, 4))
    assert sentence.edges() == ((0, 3), (1, 4))
    assert sentence.offsets() == [(0, 1), (3, 4)]


TOKENS = (
    Token("Anna", 0, 4, "B-PER", 0.9),
    Token("sleeps", 5, 11, "O", 0.8),
    Token(".", 11, 12, "O", 1.0),
)


def by_column() -> Tokens:
    return Tokens(
        words=("Anna", "sleeps", "."),
        edges=([0, 5, 11], [4, 11, 12]),
        tags=("B-PER", "O", "O"),
        scores=(0.9, 0.8, 1.0),
    )


def test_tokens_by_column_behave_like_a_tuple() -> None:
    tokens = by_column()
    assert (len(tokens), tuple(tokens), tokens[1], tokens[-1]) == (3, TOKENS, TOKENS[1], TOKENS[2])
    assert tokens[1:] == TOKENS[1:]
    assert tokens[::-1] == TOKENS[::-1]
    assert (TOKENS[1] in tokens, tokens.index(TOKENS[2]), repr(tokens)) == (True, 2, repr(TOKENS))
    with pytest.raises(IndexError):
        tokens[3]


def test_tokens_by_column_equal_a_tuple_of_tokens() -> None:
    assert by_column() == TOKENS
    assert TOKENS == by_column()  # noqa: SIM300 (the tuple on the left)
    assert by_column() == by_column()
    assert hash(by_column()) == hash(TOKENS)
    assert by_column() != TOKENS[1:]
    assert by_column() != "Anna"
    assert Document("Anna sleeps.", by_column()) == Document("Anna sleeps.", TOKENS)
    assert Document("Anna sleeps.", by_column()).tags == Document("Anna sleeps.", TOKENS).tags


def test_tokens_can_be_pickled() -> None:
    """Worker processes return tokens as results."""
    assert pickle.loads(pickle.dumps(by_column())) == TOKENS


def test_tokens_have_their_morphemes() -> None:
    morphemes = ((Morpheme("먹", "VV"),), ())
    tokens = Tokens(
        words=("먹", "."), edges=((0, 1), (1, 2)), tags=("O", "O"), scores=(1, 1), morphemes=morphemes
    )
    assert [token.morphemes for token in tokens] == list(morphemes)


def test_joined_tokens_keep_their_order() -> None:
    assert Tokens.joined([by_column(), by_column()]) == TOKENS * 2
    analysed = Tokens(words=("a",), edges=((0,), (1,)), tags=("O",), scores=(1,), morphemes=((),))
    assert len(Tokens.joined([analysed, analysed])) == 2
