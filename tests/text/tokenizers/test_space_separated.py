"""Text that is already tokenised: space-separated tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gonie.text.tokenizers.space_separated import SpaceTokenizer

CUT = SpaceTokenizer("en", "word")


@given(st.text())
def test_tokens_are_separated_by_white_space(text: str) -> None:
    sentences = CUT(text)
    words = text.split()
    assert [list(sentence.words) for sentence in sentences] == ([words] if words else [])
    for sentence in sentences:
        places = zip(sentence.starts, sentence.ends, strict=True)
        assert [text[start:end] for start, end in places] == words


def test_its_settings_differ_from_those_of_a_raw_text_tokenizer() -> None:
    assert CUT.to_json() != {"language": "en", "unit": "word"}
