"""Sentences, tokens and documents: word offsets, and tokens stored by column and created on access."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.text.types import Candidate, Classification, Document, Morpheme, Sentence, Span, Token, Tokens


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


SCORES = st.none() | st.floats(0, 1)
NAMES = st.text("abc", min_size=1, max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Return a document of sentences with random tags, spans, scores, morphemes, candidates and notes."""
    sizes = draw(st.lists(st.integers(1, 3), max_size=3))
    text = "가나🙂 " * 2 * sum(sizes)
    tokens, spans, nbest, sentences = [], [], [], []
    for size in sizes:
        sentences.append((len(tokens), len(tokens) + size))
        own = []
        for at in range(2 * len(tokens), 2 * (len(tokens) + size), 2):
            morphemes = tuple(draw(st.lists(st.builds(Morpheme, NAMES, NAMES), max_size=2)))
            tokens.append(
                Token(text[at : at + 2], at, at + 2, draw(st.none() | NAMES), draw(SCORES), morphemes)
            )
            own.append(Span(at, at + 2, draw(NAMES), text[at : at + 2], draw(SCORES)))
        spans += own[:1]
        tags = tuple(draw(st.lists(NAMES, min_size=size, max_size=size)))
        nbest.append((Candidate(tags, draw(st.floats(0, 1)), tuple(own)), Candidate(tags, 0.0)))
    return Document(
        text=text,
        tokens=tuple(tokens),
        sentences=tuple(sentences),
        spans=tuple(spans),
        notes=tuple(draw(st.lists(NAMES, max_size=2))),
        nbest=tuple(nbest) if draw(st.booleans()) else None,
    )


@given(documents())
def test_a_document_is_read_from_its_record(document: Document) -> None:
    """Only the rounding of the scores is lost, and the sentences if they are not given."""
    record = document.to_dict()
    found = Document.from_dict(record, sentences=document.sentences)
    assert found.to_dict() == record
    assert Document.from_dict(found.to_dict(), sentences=document.sentences) == found
    assert (found.text, found.tags, found.notes) == (document.text, document.tags, document.notes)
    assert [token[:4] for token in found.tokens] == [token[:4] for token in document.tokens]
    assert found.sentences == document.sentences
    if document.nbest is not None:
        assert Document.from_dict(record) == found
    else:
        whole = ((0, len(document.tokens)),) if document.tokens else ()
        assert Document.from_dict(record).sentences == whole


def test_a_sentence_without_candidates_leaves_the_sentences_unknown() -> None:
    tokens = (Token("a", 0, 1, "O"), Token("b", 2, 3, "O"))
    document = Document("a b", tokens, ((0, 1), (1, 2)), nbest=((Candidate(("O",), 1.0),), ()))
    assert Document.from_dict(document.to_dict()).sentences == ((0, 2),)
    assert Document.from_dict(document.to_dict(), sentences=[[0, 1], [1, 2]]) == document


@given(st.dictionaries(NAMES, st.floats(0, 1), min_size=1), st.booleans(), st.lists(NAMES, max_size=2))
def test_a_classification_is_read_from_its_record(
    scores: dict[str, float], multi_label: bool, notes: list[str]
) -> None:
    label = max(scores, key=lambda name: scores[name])
    labels = tuple(name for name, score in scores.items() if score > 0.5) if multi_label else (label,)
    found = Classification(
        "a text", label, scores[label], scores, labels, 3, notes=tuple(notes), multi_label=multi_label
    )
    read = Classification.from_dict(found.to_dict())
    assert read.to_dict() == found.to_dict()
    assert (read.labels, read.multi_label, read.notes) == (labels, multi_label, tuple(notes))
    assert Classification.from_dict(read.to_dict()) == read


@pytest.mark.parametrize("record", [{}, {"text": "a", "tokens": [1], "spans": []}, {"text": "a"}])
def test_another_record_is_refused(record: dict[str, object]) -> None:
    with pytest.raises(InputError, match="not the record of a document"):
        Document.from_dict(record)
    with pytest.raises(InputError, match="not the record of a classification"):
        Classification.from_dict(record)
