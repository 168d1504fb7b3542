"""What a model takes as text, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.errors import InputError


def checked_text(text: str) -> str:
    """Refuse what is not text, with where it is."""
    if not isinstance(text, str):
        raise InputError(expected="a text (str)", got=f"{type(text).__name__}", fix="Decode bytes first.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            expected="text that can be written as UTF-8",
            got=f"a lone surrogate U+{ord(text[error.start]):04X} at character {error.start}",
            fix="Decode the bytes it came from with errors='replace'.",
        ) from error
    return text


def checked_words(words: Sequence[str], *, fix: str) -> tuple[str, ...]:
    """Refuse what is not a sentence's words: above all a text, whose letters would be taken for them."""
    if isinstance(words, str):
        raise InputError(expected="a sentence as a list of words", got=f"the text {words[:40]!r}", fix=fix)
    checked = tuple(words)
    try:
        "".join(checked).encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        checked = tuple(map(checked_text, checked))  # which says what is wrong
    if not all(checked):
        raise InputError(expected="words of at least one character", got=f"an empty word in {checked[:10]}")
    return checked
