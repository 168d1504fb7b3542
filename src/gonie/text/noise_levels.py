"""The kinds and amounts of noise against which `gonie evaluate --noise` draws a robustness curve.

    typos         a share of the words, each with one typo (``gonie.text.typos``)
    lower         all letters in lower case
    upper         all letters in upper case
    title         the first letter of each word in upper case, all others in lower case
    spaces-lost   a share of the spaces between words is missing

A word has no spaces, and at least two letters to get a typo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gonie.text.noise import Edit, lose_spaces
from gonie.text.typos import find_typo

NONE, TYPOS, SPACES = "none", "typos", "spaces-lost"
DRAWS = 3
"""How often noise of one level is drawn. Noise that is not random is applied once."""
TYPO_RATES, SPACE_RATES = (0.05, 0.1, 0.2, 0.4), (0.1, 0.3, 1.0)

Range = tuple[int, int]
_WORD = re.compile(r"\S+")
_HANGUL = re.compile("[가-힣]")


class NoiseLevel(NamedTuple):
    """A kind of noise, the share of words or spaces that it changes, and how often it is drawn."""

    kind: str
    rate: float
    draws: int = 1

    @property
    def keeps_words(self) -> bool:
        """Whether each word of the text is still a word of its own."""
        return self.kind != SPACES

    def edits(
        self, text: str, generator: np.random.Generator, words: Sequence[Range] | None = None
    ) -> list[Edit]:
        """Return the edits of a text. ``words`` are the ranges of its words, if they are known."""
        if self.kind == SPACES:
            return list(lose_spaces(text, self.rate, generator))
        if self.kind in CASES:
            return list(_change_case(text, CASES[self.kind]))
        ranges = words_of(text) if words is None else words
        return list(_mistype_words(text, ranges, self.rate, generator)) if self.kind == TYPOS else []


def words_of(text: str) -> list[Range]:
    """Return the ranges of a text between spaces."""
    return [found.span() for found in _WORD.finditer(text)]


def _mistype_words(
    text: str, words: Sequence[Range], rate: float, generator: np.random.Generator
) -> Iterator[Edit]:
    for start, end in words:
        if generator.random() >= rate:
            continue
        word = text[start:end]
        edit = find_typo(word, generator, "ko" if _HANGUL.search(word) else "en")
        if edit is not None:
            yield Edit(start + edit.start, start + edit.end, edit.new)


def _change_case(text: str, change: Callable[[str, bool], str]) -> Iterator[Edit]:
    """Yield the edits of single characters. ``change`` is told whether a letter is the first of its word."""
    first = True
    for at, letter in enumerate(text):
        new = change(letter, first)
        if new != letter:
            yield Edit(at, at + 1, new)
        first = letter.isspace() or (first and not letter.isalpha())


CASES: Mapping[str, Callable[[str, bool], str]] = MappingProxyType(
    {
        "lower": lambda letter, first: letter.lower(),
        "upper": lambda letter, first: letter.upper(),
        "title": lambda letter, first: letter.title() if first else letter.lower(),
    }
)
"""The kinds of noise in which letters have another case."""

LEVELS = (
    NoiseLevel(NONE, 0.0),
    *(NoiseLevel(TYPOS, rate, DRAWS) for rate in TYPO_RATES),
    *(NoiseLevel(name, 1.0) for name in CASES),
    NoiseLevel(SPACES, 0.0),
    *(NoiseLevel(SPACES, rate, DRAWS if rate < 1 else 1) for rate in SPACE_RATES),
)
"""The points of a robustness curve. Without lost spaces, texts are still cut into words anew."""
