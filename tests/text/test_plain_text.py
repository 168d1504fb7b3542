"""What is no text is refused at the door, with where it is."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.errors import InputError
from gonie.text.plain_text import checked_text, checked_words


@pytest.mark.parametrize("text", ["", "한글 \u2028 \x00", "\N{PILE OF POO}"])
def test_any_text_is_taken_as_it_is(text: str) -> None:
    assert checked_text(text) is text


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"bytes", "Decode bytes"), (None, "NoneType"), ("ab\udcff", r"U\+DCFF at character 2")],
)
def test_anything_else_is_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_text(text)


def test_words_are_taken_as_they_are() -> None:
    assert checked_words(["한글", "\u2028"], fix="-") == ("한글", "\u2028")
    assert checked_words([], fix="-") == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [("two words", "the text 'two words'. Cut it"), (["a", ""], "empty word"), ([b"a"], "Decode bytes")],
)
def test_what_are_no_words_is_refused(words: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_words(words, fix="Cut it.")
