"""Typing errors on the keyboard of each script: QWERTY for Latin letters, two-set (두벌식) for Hangul."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gonie.text.noise import mistyped_syllables
from gonie.text.typos import NEIGHBOURS, neighbour


class Typos:
    """Puts one typing error into words, each with probability ``rate``.

    In Latin letters it is a neighbouring key instead of the right one or beside it, a missing letter, or two
    letters in the wrong order, with equal probability. In a Hangul syllable it is a neighbouring key, the
    shift key, or a missing final consonant. Words without letters stay.
    """

    def __init__(self, *, rate: float) -> None:
        self._rate = rate

    def __call__(self, words: Sequence[str], generator: np.random.Generator) -> list[str]:
        """Return the words with typing errors."""
        chosen = generator.random(len(words)) < self._rate
        return [mistyped(word, generator) if own else word for word, own in zip(words, chosen, strict=True)]


def mistyped(word: str, generator: np.random.Generator) -> str:
    """Return the word with one typing error, or the word if it has no letter."""
    places = [place for place, character in enumerate(word) if _is_letter(character)]
    if not places:
        return word
    place = places[generator.integers(len(places))]
    if "가" <= word[place] <= "힣":
        options = mistyped_syllables(word[place])
        return word[:place] + options[generator.integers(len(options))] + word[place + 1 :]
    kinds: list[Callable[[str, int, np.random.Generator], str]] = [_substituted, _inserted]
    if len(word) > 1:
        kinds += [_deleted, _transposed]
    return kinds[generator.integers(len(kinds))](word, place, generator)


def _is_letter(character: str) -> bool:
    return character.lower() in NEIGHBOURS or "가" <= character <= "힣"


def _substituted(word: str, place: int, generator: np.random.Generator) -> str:
    return word[:place] + neighbour(word[place], generator) + word[place + 1 :]


def _inserted(word: str, place: int, generator: np.random.Generator) -> str:
    key = neighbour(word[place], generator)
    after = place + int(place == 0 or generator.random() < 0.5)  # a first capital stays first
    return word[:after] + (key if word.isupper() and len(word) > 1 else key.lower()) + word[after:]


def _deleted(word: str, place: int, generator: np.random.Generator) -> str:
    return word[:place] + word[place + 1 :]


def _transposed(word: str, place: int, generator: np.random.Generator) -> str:
    first = min(place, len(word) - 2)
    return word[:first] + word[first + 1] + word[first] + word[first + 2 :]
