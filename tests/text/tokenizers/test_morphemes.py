"""Morpheme analyses in a column: they must survive writing and reading, whatever Kiwi finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.text.tokenizers.morphemes import format_morphemes, parse_morphemes
from gonie.text.types import Morpheme

FORMS = st.one_of(st.text(max_size=8), st.text(alphabet="/+\\x20; \t\n하", max_size=8))


@settings(deadline=None, max_examples=300)
@given(morphemes=st.lists(st.builds(Morpheme, form=FORMS, tag=FORMS), max_size=4).map(tuple))
def test_analyses_survive_writing_and_reading(morphemes):
    written = format_morphemes(morphemes)
    assert parse_morphemes(written) == morphemes
    assert not any(character.isspace() for character in written)


def test_format_of_an_analysis():
    assert format_morphemes([Morpheme("하", "VV"), Morpheme("었", "EP")]) == "하/VV+었/EP"
    assert parse_morphemes("하/VV+었/EP") == (Morpheme("하", "VV"), Morpheme("었", "EP"))
    assert format_morphemes([Morpheme("1/2+3", "SN")]) == r"1\/2\+3/SN"


@pytest.mark.parametrize("text", ["하", "하/VV+", "하/VV+었", "a/b/c", "+", "하/VV\\", "/+"])
def test_an_invalid_analysis_is_refused(text):
    with pytest.raises(InputError, match="form/tag"):
        parse_morphemes(text)
