"""Telling eojeols, morphemes and syllables apart by the words alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.formats.tagged import TaggedSource
from gonie.text.tokenizers import tokenizer
from gonie.text.units import guess_unit, is_korean
from support.format_files import FILES

CORPUS = Path(__file__).parents[2] / "src" / "gonie" / "corpora" / "korean" / "train.klue"


@pytest.mark.parametrize("unit", ["eojeol", "syllable", "morpheme"])
def test_the_words_of_each_tokenizer_are_recognised(unit: str) -> None:
    if unit == "morpheme":
        pytest.importorskip("kiwipiepy")
    split = tokenizer(language="ko", unit=unit)
    texts = [sentence.text or "" for sentence in TaggedSource(CORPUS)][:150]
    assert guess_unit(word for text in texts for each in split(text) for word in each.words)[0] == unit


@pytest.mark.parametrize(
    ("file", "unit"), [("slashed.txt", "morpheme"), ("klue-ner.tsv", "syllable"), ("klp2016.txt", "morpheme")]
)
def test_words_of_corpora(file: str, unit: str) -> None:
    assert guess_unit(word for sentence in TaggedSource(FILES / file) for word in sentence.words)[0] == unit


def test_eojeols_of_a_treebank(shared_data: Path) -> None:
    source = TaggedSource(shared_data / "pos/ud_korean_gsd/ko_gsd-ud-test.conllu")
    assert guess_unit(word for sentence in source for word in sentence.words)[0] == "eojeol"


def test_few_words_or_other_languages_have_no_unit() -> None:
    assert guess_unit(["George", "sleeps"]) == (None, "there are no Korean words")
    assert guess_unit(["삼성", "전자", "는"])[0] is None
    assert guess_unit(["삼", "성", "!", "A"])[0] == "syllable"


@pytest.mark.parametrize(
    ("text", "korean"),
    [
        ("이순신은 LG전자에 갔다", True),
        ("LG Display의 OLED", False),
        ("2024. 1. 1.", False),
        ("", False),
        ("\u1112\u1161\u11abㅋㅋ ok", True),
    ],
)
def test_text_is_korean_if_most_letters_are_hangul(text: str, korean: bool) -> None:
    assert is_korean([text]) is korean
