"""Back off from morphemes to syllables, so that names inside a morpheme can be tagged.

Kiwi takes a word that it does not know as one noun, and without spaces several words: 마틸다와레옹은 becomes
the noun 마틸다와레옹 and a particle. Other words are in its dictionary but contain names, such as 한미. Both
are cut into syllables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gonie.text.types import Sentence

SHARE = 0.5
"""A form is cut if a name begins or ends inside at least this share of its occurrences."""


class Analysed(Protocol):
    """A morpheme as Kiwi reports it. ``start`` and ``len`` count characters of the analysed text."""

    form: str
    tag: str
    start: int
    len: int


class GuessedMorpheme(Analysed, Protocol):
    """A morpheme that may be unknown to the dictionary."""

    oov: bool


class Guesser(Protocol):
    """The part of the ``kiwipiepy.Kiwi`` interface in use."""

    def tokenize(self, text: str) -> Iterable[GuessedMorpheme]:
        """Return the morphemes of a text. They may overlap or be empty."""


@dataclass(slots=True)
class Syllable:
    """A syllable of a morpheme that was cut, with the tag of the morpheme."""

    form: str
    tag: str
    start: int
    len: int


class SyllableBackoff:
    """An analyser that cuts unknown morphemes of another one, and those in ``forms``, into syllables."""

    def __init__(self, analyser: Guesser, forms: Iterable[str]) -> None:
        self._analyser = analyser
        self._forms = frozenset(forms)

    def tokenize(self, text: str) -> Iterator[Analysed]:
        """Yield the morphemes of a text, or their syllables."""
        for token in self._analyser.tokenize(text):
            surface = text[token.start : token.start + token.len]
            if not (token.oov or surface in self._forms):
                yield token
                continue
            for place, character in enumerate(surface, start=token.start):
                if not character.isspace():
                    yield Syllable(character, token.tag, place, 1)


def forms_to_cut(sentences: Iterable[Sentence]) -> list[str]:
    """Return the words inside which gold spans begin or end, where this is no rare exception, in order.

    The sentences must have the spans that their words cannot express (``Sentence.unreachable``).
    """
    seen: Counter[str] = Counter()
    split: Counter[str] = Counter()
    for sentence in sentences:
        seen.update(sentence.words)
        split.update(_split_words(sentence))
    return sorted(form for form, times in split.items() if times >= SHARE * seen[form])


def _split_words(sentence: Sentence) -> Sequence[str]:
    ends = {place for start, end, _ in sentence.unreachable for place in (start, end)}
    return [
        word
        for word, start, end in zip(sentence.words, sentence.starts, sentence.ends, strict=True)
        if any(start < place < end for place in ends)
    ]
