"""Validation of the text and words passed to a model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gonie.errors import InputError

LONGEST_PATH = 1000
"""Longer texts are not taken for paths."""
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


def warn_of_path(text: Any) -> None:
    """Warn if the only text that is passed to a model is the name of a file, which is not read."""
    if isinstance(text, str) and 0 < len(text) <= LONGEST_PATH and not any(map(str.isspace, text)):
        try:
            is_file = Path(text).is_file()
        except (OSError, ValueError):  # no valid name
            return
        if is_file:
            warnings.warn(
                f"{text!r} is a file, but is taken as the text itself. Pass the texts of the file",
                stacklevel=3,
            )


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
