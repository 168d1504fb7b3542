"""Word normalisation: which forms share a vocabulary entry, and the keys used to look up a word.

``Normalization`` is chosen once in the recipe and applied to every word before it is counted or looked up.
``fallbacks`` returns increasingly coarse keys to try for a word that is not in the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MARK = re.compile(r"</?[^<>\s]+>")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
# A written number: digits joined by signs (1,234.50 · 12:30 · 2004-05-01 · 50% · $5).
_NUMBER = re.compile(r"[$€£¥₩+\-−–]?[.,]?\d(?:[\d.,:/\-–]*\d)?[.,]?%?")


@dataclass(frozen=True, slots=True)
class Normalization:
    """Normalise the case of a word, its digits (each becomes 0), or both, before vocabulary lookup.

    A mark such as ``<e1>`` stays unchanged, because normalised it would equal ``<e2>``.
    """

    lowercase: bool
    digits: bool

    def __call__(self, word: str) -> str:
        """Return the normalised form: ``Normalization(lowercase=True, digits=True)("B2B") == "b0b"``."""
        if word.isalpha():  # most words: no mark, no digit
            return word.lower() if self.lowercase else word
        if _MARK.fullmatch(word):
            return word
        if self.lowercase:
            word = word.lower()
        return zero_digits(word) if self.digits else word

    def fallbacks(self, word: str) -> tuple[str, ...]:
        """Return the lookup keys of a word in order: its normalised form, then the keys of ``fallbacks``."""
        return tuple(dict.fromkeys((self(word), *fallbacks(word))))

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle."""
        return {"lowercase": self.lowercase, "digits": self.digits}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Normalization:
        """Restore a normalisation from the result of ``to_json``."""
        return cls(lowercase=bool(saved["lowercase"]), digits=bool(saved["digits"]))


def zero_digits(word: str) -> str:
    """Replace every decimal digit of any script by 0: ``1,234`` gives ``0,000``."""
    return _DIGIT.sub("0", word)


def fallbacks(word: str) -> tuple[str, ...]:
    """Return the keys to look ``word`` up by, finest first, without duplicates.

    | key                                        | ``Mid-1990s`` | ``1,234`` |
    |--------------------------------------------|---------------|-----------|
    | as it is                                   | ``Mid-1990s`` | ``1,234`` |
    | lower case                                 | ``mid-1990s`` |           |
    | each digit 0                               | ``Mid-0000s`` | ``0,000`` |
    | lower case, each digit 0                   | ``mid-0000s`` |           |
    | lower case, each run of digits one 0       | ``mid-0s``    | ``0,0``   |
    | a whole number as one 0                    |               | ``0``     |

    The last two match numbers of unseen length (``12,345,678``), and word vectors whose authors replaced runs
    of digits by one 0 (Senna).
    """
    lower = word.lower()
    if not _DIGIT.search(word):
        return (word,) if lower == word else (word, lower)
    keys = [word, lower, zero_digits(word), zero_digits(lower), _DIGITS.sub("0", lower)]
    if _NUMBER.fullmatch(word):
        keys.append("0")
    return tuple(dict.fromkeys(keys))
