"""Word normalisation: which forms share an entry of the vocabulary, and the keys a word is looked up by.

``Normalization`` is chosen once in the recipe and applied to every word before it is counted or looked up.
``fallbacks`` is the chain of ever coarser keys tried for a word that is not there as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MARK = re.compile(r"</?[^<>\s]+>")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
# A number as people write it: digits held together by signs (1,234.50 · 12:30 · 2004-05-01 · 50% · $5).
_NUMBER = re.compile(r"[$€£¥₩+\-−–]?[.,]?\d(?:[\d.,:/\-–]*\d)?[.,]?%?")


@dataclass(frozen=True, slots=True)
class Normalization:
    """What is levelled before a word meets the vocabulary: its case, its digits (each becomes 0), or both.

    A mark such as ``<e1>`` stays as it is: levelled, it would be the same as ``<e2>``.
    """

    lowercase: bool
    digits: bool

    def __call__(self, word: str) -> str:
        """The normalised form: ``Normalization(lowercase=True, digits=True)("B2B") == "b0b"``."""
        if word.isalpha():  # as most are: no mark, no digit
            return word.lower() if self.lowercase else word
        if _MARK.fullmatch(word):
            return word
        if self.lowercase:
            word = word.lower()
        return zeroed(word) if self.digits else word

    def fallbacks(self, word: str) -> tuple[str, ...]:
        """What to look a word up by, in order: its normalised form, then the keys of ``fallbacks``."""
        return tuple(dict.fromkeys((self(word), *fallbacks(word))))

    def to_json(self) -> dict[str, Any]:
        """Plain values for the bundle."""
        return {"lowercase": self.lowercase, "digits": self.digits}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Normalization:
        """What ``to_json`` wrote."""
        return cls(lowercase=bool(saved["lowercase"]), digits=bool(saved["digits"]))


def zeroed(word: str) -> str:
    """Every decimal digit of any script as 0: ``1,234`` gives ``0,000``."""
    return _DIGIT.sub("0", word)


def fallbacks(word: str) -> tuple[str, ...]:
    """The keys under which ``word`` is looked up, finest first, each once.

    | key                                        | ``Mid-1990s`` | ``1,234`` |
    |--------------------------------------------|---------------|-----------|
    | as it is                                   | ``Mid-1990s`` | ``1,234`` |
    | lower case                                 | ``mid-1990s`` |           |
    | each digit 0                               | ``Mid-0000s`` | ``0,000`` |
    | lower case, each digit 0                   | ``mid-0000s`` |           |
    | lower case, each run of digits one 0       | ``mid-0s``    | ``0,0``   |
    | a number as a whole one 0                  |               | ``0``     |

    The last two catch numbers of a length never seen (``12,345,678``), and vectors whose authors wrote runs
    of digits as one 0 (Senna).
    """
    lower = word.lower()
    if not _DIGIT.search(word):
        return (word,) if lower == word else (word, lower)
    keys = [word, lower, zeroed(word), zeroed(lower), _DIGITS.sub("0", lower)]
    if _NUMBER.fullmatch(word):
        keys.append("0")
    return tuple(dict.fromkeys(keys))
