"""Features of spaces: a syllable model cannot see where words begin without them."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gonie.features.encoding import EXTRACTORS
from gonie.features.spaces import Spaces
from gonie.text.tokenizers import SyllableTokenizer, tokenizer
from gonie.text.types import Sentence


def extracted(text: str) -> list[list[str]]:
    (sentence,) = SyllableTokenizer()(text)
    return Spaces().extract(sentence)


def test_features_are_the_spaces_around_a_token() -> None:
    first, middle, *_ = extracted("서울은 크다")
    assert first == ["-1|", "0|", "1-", "2-", "||--"]
    assert middle == ["-1|", "0-", "1-", "2_", "|--_"]
    assert extracted("서울은 크다")[2] == ["-1-", "0-", "1_", "2-", "--_-"]


@given(st.lists(st.text("가나는", min_size=1, max_size=4), min_size=2, max_size=5))
def test_the_space_before_a_token_is_where_a_word_begins(words: list[str]) -> None:
    found = [features[1] for features in extracted(" ".join(words))]
    starts = [at == 0 for word in words for at, _ in enumerate(word)]
    assert found == ["0|", *("0_" if start else "0-" for start in starts[1:])]


def test_sentences_without_spaces_have_no_features() -> None:
    """Their absence says nothing about where words begin."""
    assert extracted("서울은크다") == [[]] * 5
    assert Spaces().extract(Sentence(("서", "울"))) == [[], []], "the text is not known"
    assert Spaces().extract(Sentence(())) == []


def test_the_way_a_text_is_written_makes_no_difference() -> None:
    cut = tokenizer(language="ko", unit="syllable", fold=True)
    (plain,), (decomposed,) = cut("서울은 크다"), cut(unicodedata.normalize("NFD", "서울은 크다"))
    (wide,) = cut("서울은\u3000크다")
    assert Spaces().extract(decomposed) == Spaces().extract(wide) == Spaces().extract(plain)


def test_part_of_a_sentence_keeps_its_spaces() -> None:
    """Long sentences are tagged in parts."""
    (sentence,) = SyllableTokenizer()("서울은 크고 그리고 멀다")
    whole, part = Spaces().extract(sentence), Spaces().extract(sentence.part(1, 8))
    assert part[2:-2] == whole[3:6], "all but the tokens next to the ends"


def test_the_extractor_is_restored_from_json() -> None:
    saved = Spaces().to_json()
    assert isinstance(EXTRACTORS[saved["name"]].from_json(saved), Spaces)
