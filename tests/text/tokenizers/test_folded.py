"""Tokenising folded text: all ways to write a text are cut alike, with offsets into it as written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.fold import fold_text
from gonie.text.tokenizers import tokenizer

KINDS = [("en", "word"), ("ko", "eojeol"), ("ko", "syllable"), ("ko", "morpheme")]
TEXT = "카페 café에서 LG전자 3.5%를 샀다. 정말ㅋㅋ 2024년!"
ASCII = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
WRITINGS = {
    "decomposed": unicodedata.normalize("NFD", TEXT),
    "full-width": TEXT.translate(ASCII),
    "both": unicodedata.normalize("NFD", TEXT.translate(ASCII)),
    "loose jamo": TEXT.replace("ㅋ", "\u110f"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("writing", WRITINGS)
def test_every_way_to_write_a_text_gives_the_same_tokens(kind, writing):
    if kind[1] == "morpheme":
        pytest.importorskip("kiwipiepy")
    cut = tokenizer(language=kind[0], unit=kind[1], fold=True)
    text = WRITINGS[writing]
    clean, other = cut(TEXT), cut(text)
    assert [own.words for own in clean] == [tuple(map(fold_text, own.words)) for own in other]
    assert [own.columns for own in clean] == [own.columns for own in other]
    for own in other:
        assert own.text == text
        assert list(own.words) == [text[start:end] for start, end in own.offsets()]


@pytest.mark.parametrize("kind", KINDS[:3])
@settings(deadline=None, max_examples=100)
@given(st.text("aé한 글ㅋ.A1\n", max_size=20))
def test_decomposed_text_is_cut_as_composed_text(kind, text):
    cut = tokenizer(language=kind[0], unit=kind[1], fold=True)
    decomposed = cut(unicodedata.normalize("NFD", text))
    assert [tuple(map(fold_text, own.words)) for own in decomposed] == [own.words for own in cut(text)]


def test_folded_text_is_tokenised_as_without_folding():
    plain, folded = (tokenizer(language="ko", unit="eojeol", fold=fold) for fold in (False, True))
    assert plain(TEXT) == folded(TEXT)


def test_characters_folded_into_a_token_belong_to_it():
    """Cedilla and acute are in another order in the folded text, so they cannot be cut apart."""
    (sentence,) = tokenizer(language="ko", unit="syllable", fold=True)("e\u0301\u0327가")
    assert sentence.words == ("e\u0301\u0327", "가")
