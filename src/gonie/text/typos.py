"""Typing errors in words: a key beside the right one, letters swapped, left out or doubled.

Latin letters are mistyped on a QWERTY keyboard, Hangul syllables on the Korean one (두벌식). ``add_typos``
makes such errors, and ``corrections`` lists the words that they may come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from gonie.text.jamo import FINAL, FINAL_LETTERS, compose, decompose
from gonie.text.noise import Edit, mistype, mistyped_syllables, neighbouring_keys

KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""The rows of letters of a QWERTY keyboard, each shifted by half a key to the right of the one above."""
NEIGHBOURS: Mapping[str, str] = MappingProxyType(neighbouring_keys(KEYBOARD))
"""The keys beside each key, in its row and in the rows above and below."""
FEWEST = 2
"""The letters of the shortest word that gets a typo, so that something of it is left."""
CORRECTED = 4
"""The letters of the shortest word that has corrections. Shorter words are near too many others."""
CORRECTED_SYLLABLES = 3
"""The same for words with Hangul, in characters."""
LONGEST = 40
"""The letters of the longest word that has corrections. What is longer is not a word, and would take long."""
_HANGUL = re.compile("[가-힣]")
_LETTERS = "".join(KEYBOARD)
_FINALS = tuple(chr(FINAL + 1 + number) for number in range(len(FINAL_LETTERS)))


def add_typos(word: str, rate: float, generator: np.random.Generator, language: str = "en") -> str:
    """Return the word, which has one typo with probability ``rate``.

    Words of fewer than two letters are not changed. ``language`` is ``"en"`` or ``"ko"``.
    """
    edit = find_typo(word, generator, language) if generator.random() < rate else None
    return word if edit is None else word[: edit.start] + edit.new + word[edit.end :]


def find_typo(word: str, generator: np.random.Generator, language: str = "en") -> Edit | None:
    """Return a random typo in a word, or None if it has fewer than two letters.

    It is a neighbouring key, two swapped letters, a missing letter or a doubled one, with equal
    probabilities. A letter that is not on the keyboard (``é``) has no neighbouring key. In Korean, it is a
    mistyped letter of a syllable.
    """
    syllables = [found.start() for found in _HANGUL.finditer(word)] if language == "ko" else []
    if syllables:
        at = syllables[int(generator.integers(len(syllables)))]
        return next(Edit(at, at + 1, edit.new) for edit in mistype(word[at], 1.0, generator))
    letters = [at for at, letter in enumerate(word) if letter.isalpha()]
    if len(letters) < FEWEST:
        return None
    at = letters[int(generator.integers(len(letters)))]
    options = [Edit(at, at + 1, ""), Edit(at, at + 1, 2 * word[at])]
    if word[at].lower() in NEIGHBOURS:
        options.append(Edit(at, at + 1, neighbour(word[at], generator)))
    if at + 1 in letters and word[at] != word[at + 1]:
        options.append(Edit(at, at + 2, word[at + 1] + word[at]))
    return options[int(generator.integers(len(options)))]


def neighbour(letter: str, generator: np.random.Generator) -> str:
    """Return a random key beside that of a letter, in the case of the letter."""
    keys = NEIGHBOURS[letter.lower()]
    key = keys[int(generator.integers(len(keys)))]
    return key.upper() if letter.isupper() else key


def corrections(word: str) -> Iterator[str]:
    """Yield the words that ``word`` may be a typing error of, some of them twice.

    They are the words in lower case or in capitals, and those with Hangul, that ``find_typo`` can turn into
    it. Missing letters are those of the keyboard. Very short and very long words have no corrections, nor
    have words with other characters than letters.
    """
    if not word.isalpha() or len(word) > LONGEST:
        return
    if _HANGUL.search(word):
        if len(word) >= CORRECTED_SYLLABLES:
            yield from _hangul_corrections(word)
    elif len(word) >= CORRECTED:
        yield from _latin_corrections(word)


def _latin_corrections(word: str) -> Iterator[str]:
    letters = _LETTERS.upper() if word.isupper() else _LETTERS
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (f"{before}{letter}{after}" for letter in letters)  # a missing letter
        if not after:
            continue
        key, rest = after[0], after[1:]
        for other in NEIGHBOURS.get(key.lower(), ""):
            yield f"{before}{other.upper() if key.isupper() else other}{rest}"
        if rest[:1] == key:  # a doubled letter
            yield f"{before}{rest}"
        elif rest:  # two swapped letters
            yield f"{before}{rest[0]}{key}{rest[1:]}"


def _hangul_corrections(word: str) -> Iterator[str]:
    for found in _HANGUL.finditer(word):
        letters = decompose(found[0])
        missing = [compose(letters + final) for final in _FINALS] if len(letters) == 2 else []
        for syllable in (*mistyped_syllables(found[0]), *missing):
            yield f"{word[: found.start()]}{syllable}{word[found.end() :]}"
