"""Where words stand in a sentence, from its text or from its words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gonie.data.types import Sentence


@given(st.lists(st.text("ab", min_size=1, max_size=5), max_size=8))
def test_words_stand_where_the_surface_has_them(words: list[str]) -> None:
    """An offset that is off by one marks the wrong letters in every tool that shows a span."""
    sentence = Sentence(words=tuple(words))
    assert [sentence.surface[start:end] for start, end in sentence.offsets()] == words
    starts, ends = sentence.edges()
    assert list(zip(starts, ends, strict=True)) == sentence.offsets()


def test_a_text_has_offsets_of_its_own() -> None:
    sentence = Sentence(words=("a", "b"), text="a  b", starts=(0, 3), ends=(1, 4))
    assert sentence.edges() == ((0, 3), (1, 4))
    assert sentence.offsets() == [(0, 1), (3, 4)]
