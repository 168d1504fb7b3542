"""Spelling features of Huang, Xu & Yu 2015 (arXiv:1508.01991, section 3.1).

Each feature is a function of the word form alone, so the result can be cached per distinct form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from gonie.text.types import Sentence

AFFIXES = (2, 3, 4, 5)  # lengths of prefixes and suffixes
CACHE_SIZE = 1 << 16  # size of the cache of forms with their features

_HANGUL = re.compile("[가-힣\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]")
_APOSTROPHE_S = re.compile("['’ʼ＇][sS]")
_RUN = re.compile(r"(.)\1+", re.DOTALL)


class Spelling:
    """Extract twelve features of a word's form, and the word in lower case.

    | feature                                   | string                      | for ``D56y-3``              |
    |-------------------------------------------|-----------------------------|-----------------------------|
    | starts with a capital                     | ``initial capital``         | yes                         |
    | all capitals                              | ``all capitals``            |                             |
    | all lower case                            | ``all lower``               |                             |
    | a capital after the first letter          | ``inner capital``           |                             |
    | letters and digits mixed                  | ``letters and digits``      | yes                         |
    | contains punctuation or a symbol          | ``punctuation``             | yes                         |
    | prefixes and suffixes of 2 to 5, lowered  | ``prefix=``, ``suffix=``    | ``d5`` ``d56`` … ``-3`` …   |
    | ends in 's                                | ``'s``                      |                             |
    | its letters only                          | ``letters=``                | ``Dy``                      |
    | its other characters, no white space      | ``others=``                 | ``56-3``                    |
    | pattern: each character by its class      | ``pattern=``                | ``A00a-0``                  |
    | summary: the pattern, runs as one         | ``summary=``                | ``A0a-0``                   |
    | the word in lower case                    | ``word=``                   | ``d56y-3``                  |

    A feature that does not hold, or is empty, gives no string. The classes of a pattern, for any script, are:
    ``A`` a capital (or titlecase) letter, ``a`` a small one, ``가`` Hangul, syllable or jamo, which has no
    case, ``字`` any other letter without case (Han, kana, Arabic …), ``0`` a decimal digit. Combining marks
    belong to the preceding letter and are dropped. Any other character stands for itself. So 2차전지 gives
    ``0가가가``, summary ``0가``; 한글 is neither all capitals nor all lower case.
    """

    name = "spelling"

    def __init__(self) -> None:
        self._shapes = _Shapes()
        self._cached = lru_cache(maxsize=CACHE_SIZE)(self.features)

    def features(self, word: str) -> tuple[str, ...]:
        """Return the feature strings of one form."""
        lower, pattern = word.lower(), word.translate(self._shapes)
        return (
            *self._marks(word, pattern),
            *_affixes(lower),
            *_named("letters", "".join(filter(_is_letter, word))),
            *_named("others", "".join(c for c in word if not (_is_letter(c) or c.isspace()))),
            *_named("pattern", pattern),
            *_named("summary", _RUN.sub(r"\1", pattern)),
            *_named("word", lower),
        )

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        cached = self._cached
        return [list(cached(word)) for word in sentence.words]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle: only the name, as there are no settings."""
        return {"name": self.name}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Spelling:
        """Restore the extractor from the result of ``to_json``."""
        return cls()

    @staticmethod
    def _marks(word: str, pattern: str) -> Iterator[str]:
        """Yield the binary features that hold."""
        if pattern[:1] == "A":
            yield "initial capital"
        if word.isupper():
            yield "all capitals"
        if word.islower():
            yield "all lower"
        if "A" in pattern[1:]:
            yield "inner capital"
        if "0" in pattern and any(letter in pattern for letter in "Aa가字"):
            yield "letters and digits"
        if any(unicodedata.category(character)[0] in "PS" for character in word):
            yield "punctuation"
        if _APOSTROPHE_S.fullmatch(word[-2:]):
            yield "'s"


class _Shapes(dict[int, str]):
    """A table for ``str.translate`` from code points to pattern classes, filled on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = shape = _shape(chr(code))
        return shape


def _shape(character: str) -> str:
    """Return the class of one character in a pattern."""
    category = unicodedata.category(character)
    if category in ("Lu", "Lt"):
        return "A"
    if category == "Ll":
        return "a"
    if category[0] == "L":
        return "가" if _HANGUL.match(character) else "字"
    if category[0] == "M":
        return ""
    return "0" if category == "Nd" else character


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter or a combining mark."""
    return character.isalpha() or unicodedata.category(character)[0] == "M"


def _affixes(word: str) -> Iterator[str]:
    """Yield prefixes and suffixes. All lengths share one name, as the string itself shows its length."""
    for length in AFFIXES:
        if length <= len(word):
            yield f"prefix={word[:length]}"
            yield f"suffix={word[-length:]}"


def _named(name: str, value: str) -> tuple[str, ...]:
    """Return a feature with a value, unless the value is empty."""
    return (f"{name}={value}",) if value else ()
