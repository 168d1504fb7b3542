"""Validation of the text and words passed to a model."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.errors import InputError

_FIXES = {
    "bytes": "Decode the bytes first",
    "list": "For several texts, use the method pipe",
    "tuple": "For several texts, use the method pipe",
}
"""How to pass a value of another type, by the name of the type."""


def checked_text(text: str) -> str:
    """Return the text, or raise an error that locates the first character that is not valid."""
    if not isinstance(text, str):
        raise InputError(
            f"expected a text (str), got {type(text).__name__}", fix=_FIXES.get(type(text).__name__, "")
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            "the text cannot be encoded as UTF-8: "
            f"lone surrogate U+{ord(text[error.start]):04X} at character {error.start}",
            fix="Decode the original bytes with errors='replace'",
        ) from error
    return text


def checked_words(words: Sequence[str], *, fix: str) -> tuple[str, ...]:
    """Return the words as a tuple, or raise an error if they are not a list of non-empty words.

    A str is refused, because its characters would be taken for words.
    """
    if isinstance(words, str):
        raise InputError(f"expected a list of words, got the text {words[:40]!r}", fix=fix)
    checked = tuple(words)
    try:
        "".join(checked).encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        checked = tuple(map(checked_text, checked))  # raises the exact error
    if not all(checked):
        raise InputError(f"empty word in {checked[:10]}", fix="Remove empty words")
    return checked
