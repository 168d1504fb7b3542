"""A plain copy of a text, one character for one character, for rules to look at.

Rules that knew every curly apostrophe, full-width letter and combining mark would be unreadable. They see a
folded copy instead; because it has the same length, what they find there holds at the same offsets of the
text itself, which is never changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

JOINER = "\u200d"
"""Zero width joiner: glues emoji into one picture, and letters in several scripts."""

PICTURES = "\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2190-\u21ff\u2300-\u23ff\u25a0-\u25ff©®"
"""Characters that may begin an emoji, as the inside of a character class."""

EMOJI_TAIL = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
"""Characters that only change the emoji before them, as the inside of a character class."""

_LETTER = "ª"  # a letter that no rule names: stands for marks, so that they stay inside their word
_APOSTROPHES = frozenset("’ʼ＇‛´")
_EMOJI_PARTS = frozenset("\ufe0e\ufe0f\u20e3" + JOINER)
_INVISIBLE = frozenset(
    "\u00ad\u200c\u2060"
)  # soft hyphen, non-joiner, word joiner: nothing to see inside a word


class Folding(dict[int, str]):
    """A table for ``str.translate`` that asks ``fold`` about each character the first time it meets it."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def __missing__(self, code: int) -> str:
        folded = self[code] = self._fold(chr(code))
        return folded


def plain(character: str) -> str:
    """The one character that rules for words see for ``character``."""
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
    """Whether a character is written onto the one before it: accents, vowel signs, enclosing marks."""
    return unicodedata.category(character).startswith("M")
