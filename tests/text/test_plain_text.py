"""Checks of input texts: a value that is not valid text is refused with a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.text.plain_text import checked_text, checked_words, warn_of_path


@pytest.mark.parametrize("text", ["", "한글 \u2028 \x00", "\N{PILE OF POO}"])
def test_valid_text_is_unchanged(text: str) -> None:
    assert checked_text(text) is text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"bytes", "got bytes. Decode the bytes first$"),
        (["a", "b"], "got list. For several texts, use the method pipe$"),
        (None, "got NoneType$"),
        ("ab\udcff", r"U\+DCFF at character 2"),
    ],
)
def test_invalid_text_is_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_text(text)


def test_valid_words_are_unchanged() -> None:
    assert checked_words(["한글", "\u2028"], fix="-") == ("한글", "\u2028")
    assert checked_words([], fix="-") == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [("two words", "the text 'two words'. Cut it"), (["a", ""], "empty word"), ([b"a"], "Decode the bytes")],
)
def test_invalid_words_are_refused(words: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_words(words, fix="Cut it.")


def test_a_text_that_is_the_name_of_a_file_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("inbox.csv", "a b"):
        (tmp_path / name).touch()
    for text in ("a b", "other.csv", "", "a\0b", "x" * 5000, None, 3):
        warn_of_path(text)
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r"'inbox\.csv' is a file, but is taken as the text itself"):
        warn_of_path("inbox.csv")
