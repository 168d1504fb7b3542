"""Character folding: the folded text must have the same length, or all later offsets are wrong."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.tokenizers.folding import Folding, is_mark, plain


@settings(deadline=None, max_examples=300)
@given(text=st.text())
def test_each_character_folds_to_one_character(text):
    folded = text.translate(Folding(plain))
    assert len(folded) == len(text)
    for before, after in zip(text, folded, strict=True):
        assert before.isspace() == after.isspace()
        assert after == before or not before.isascii()


def test_quotes_fullwidth_characters_and_marks_are_folded():
    assert "don’t ‘so’ ＡＢ１！ e\u0301".translate(Folding(plain)) == "don't `so' AB1! eª"


def test_combining_marks_are_recognised():
    assert is_mark("\u0301")
    assert is_mark("\u0940")  # Devanagari vowel sign
    assert not is_mark("e")


def test_each_character_is_folded_once():
    asked = []
    table = Folding(lambda character: asked.append(character) or character.upper())
    assert "abab".translate(table) == "ABAB"
    assert asked == ["a", "b"]
