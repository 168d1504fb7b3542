"""Compares Hangul letters with Unicode's tables: the character network must receive the right letters."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.jamo import compose, decompose, to_letters

SYLLABLES = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3))
JAMO = st.characters(min_codepoint=0x1100, max_codepoint=0x11FF)
MIXED = st.text(
    st.one_of(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), JAMO, st.sampled_from("aZ 9.ㄱ"))
)


def test_a_syllable_gives_initial_medial_and_final() -> None:
    assert decompose("한") == "\u1112\u1161\u11ab"
    assert decompose("가") == "\u1100\u1161"


def test_initial_and_final_of_the_same_letter_differ() -> None:
    letters = decompose("각")
    assert letters[0] != letters[2]


def test_every_syllable_decomposes_as_in_unicode() -> None:
    text = "".join(map(chr, range(0xAC00, 0xD7A4)))
    assert decompose(text) == unicodedata.normalize("NFD", text)
    assert compose(decompose(text)) == text


@settings(deadline=None, max_examples=200)
@given(SYLLABLES)
def test_decomposing_equals_nfd(text: str) -> None:
    assert decompose(text) == unicodedata.normalize("NFD", text)


@settings(deadline=None, max_examples=300)
@given(MIXED)
def test_composing_equals_nfc_even_with_loose_letters(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFC", text)


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decomposing_and_composing_restores_text_without_loose_letters(text: str) -> None:
    text = "".join(c for c in text if not "\u1100" <= c <= "\u11ff")
    assert compose(decompose(text)) == text


def test_characters_other_than_hangul_are_not_decomposed() -> None:
    assert decompose("café ㄱ 漢 ½ é") == "café ㄱ 漢 ½ é"


def test_loose_jamo_become_letters():
    """Kiwi writes endings such as ㄴ as conjoining finals."""
    assert to_letters("가\u11ab다 \u110f\u110f \u1172 한글") == "가ㄴ다 ㅋㅋ ㅠ 한글"
    for code in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A8, 0x11C3)):
        name = unicodedata.name(chr(code)).split()[-1]
        assert unicodedata.name(to_letters(chr(code))) == f"HANGUL LETTER {name}"
