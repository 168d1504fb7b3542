"""Fold a text to plain characters, one for one, for tokenizer rules.

Rules that handle every curly apostrophe, full-width letter and combining mark would be unreadable. They read
a folded copy instead. The copy has the same length, so offsets found in it are valid in the original text,
which is never changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

JOINER = "\u200d"
"""Zero width joiner: joins emoji into one picture, and letters in several scripts."""

PICTURES = "\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2190-\u21ff\u2300-\u23ff\u25a0-\u25ff©®"
"""Characters that may begin an emoji, as the inside of a character class."""

EMOJI_TAIL = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
"""Characters that only modify the preceding emoji, as the inside of a character class."""

_LETTER = "ª"  # a letter that no rule names; it replaces marks, so that they stay inside their word
_APOSTROPHES = frozenset("’ʼ＇‛´")
_EMOJI_PARTS = frozenset("\ufe0e\ufe0f\u20e3" + JOINER)
_INVISIBLE = frozenset("\u00ad\u200c\u2060")  # soft hyphen, non-joiner, word joiner: invisible inside a word


class Folding(dict[int, str]):
    """A table for ``str.translate`` that calls ``fold`` for each new character and caches the result."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def __missing__(self, code: int) -> str:
        folded = self[code] = self._fold(chr(code))
        return folded


def plain(character: str) -> str:
    """Return the character that word rules see in place of ``character``."""
    if character in _APOSTROPHES:
        return "'"
    if character == "‘":
        return "`"
    if character in _EMOJI_PARTS:
        return character
    if character in _INVISIBLE or is_mark(character):
        return _LETTER
    ascii_twin = unicodedata.normalize("NFKC", character)
    return ascii_twin if len(ascii_twin) == 1 and "!" <= ascii_twin <= "~" else character


def is_mark(character: str) -> bool:
    """Return whether a character combines with the one before it: accents, vowel signs, enclosing marks."""
    return unicodedata.category(character).startswith("M")
