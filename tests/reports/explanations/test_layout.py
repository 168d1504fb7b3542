"""Layout of explained texts: the text shown must be the text that was explained."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.reports.explanations.layout import TextPiece, lay_out, lay_out_sentence
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passages
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence, Span


def shown(rows: list[list[TextPiece]]) -> str:
    return "".join(piece.text for row in rows for piece in row if not piece.added)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[str, list[Sentence]]:
    """Draw a text and sentences whose tokens may overlap, be empty or leave characters out."""
    text = draw(st.text(max_size=40))
    place = st.integers(0, len(text))
    sentences, at = [], 0
    for _ in range(draw(st.integers(1, 4))):
        tokens = []
        for _ in range(draw(st.integers(1, 4))):
            start = max(at, draw(place))
            end = max(start, draw(place))
            tokens.append((start, end))
            at = draw(st.sampled_from([start, end]))
        starts, ends = zip(*tokens, strict=True)
        words = tuple(text[start:end] or "<e1>" for start, end in tokens)
        sentences.append(Sentence(words=words, text=text, starts=starts, ends=ends))
    return text, sentences


@settings(deadline=None, max_examples=300)
@given(cuts())
def test_the_whole_text_and_every_token_are_shown_once(cut: tuple[str, list[Sentence]]) -> None:
    text, sentences = cut
    rows = lay_out(text, sentences)
    assert shown(rows) == text
    tokens = [[piece.token for piece in row if piece.token is not None] for row in rows]
    assert tokens == [list(range(len(sentence))) for sentence in sentences]


@settings(deadline=None, max_examples=100)
@given(st.text(), st.sampled_from(["text", "sentence"]))
def test_tokenised_text_is_shown_unchanged(text: str, by: str) -> None:
    passages = Passages(tokenizer=tokenizer(language="en", unit="word"), by=by)  # type: ignore[arg-type]
    assert shown(lay_out(text, passages(LabelledText(text)).sentences)) == text


def test_marks_and_empty_texts_are_shown_as_added_pieces() -> None:
    passages = Passages(tokenizer=tokenizer(language="en", unit="word"))
    marked = LabelledText("the drum broke", marks=(Span(4, 8, "e1", "drum"),))
    (row,) = lay_out(marked.text, passages(marked).sentences)
    assert [piece.text for piece in row if piece.added] == ["<e1>", "</e1>"]
    (blank,) = lay_out("  \n", passages(LabelledText("  \n")).sentences)
    assert blank == [TextPiece("(no word)", 0, added=True), TextPiece("  \n")]


def test_words_beyond_the_limit_are_shown_without_a_weight() -> None:
    passages = Passages(tokenizer=tokenizer(language="en", unit="word"), max_tokens=2)
    (row,) = lay_out("one two three", passages(LabelledText("one two three")).sentences)
    assert row == [TextPiece("one", 0), TextPiece(" "), TextPiece("two", 1), TextPiece(" three")]


def test_a_single_sentence_is_shown_without_its_neighbours() -> None:
    sentence = Sentence(
        words=("Anna", "naps"), text="It rains. Anna  naps. Ah.", starts=(10, 16), ends=(14, 20)
    )
    assert lay_out_sentence(sentence) == [TextPiece("Anna", 0), TextPiece("  "), TextPiece("naps", 1)]
    words = Sentence(words=("Anna", "naps"))
    assert "".join(piece.text for piece in lay_out_sentence(words)) == "Anna naps"
    assert lay_out_sentence(Sentence(words=())) == []


def test_an_invisible_token_is_shown_by_its_code_point() -> None:
    sentence = Sentence(words=("a", "\u202e"), text="a\u202e", starts=(0, 1), ends=(1, 2))
    row = lay_out_sentence(sentence)
    assert row == [TextPiece("a", 0), TextPiece("U+202E", 1, added=True), TextPiece("\u202e")]
