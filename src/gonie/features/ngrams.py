"""The n-gram bag of a text: which short runs of characters and of words it has, in whatever order.

A linear model over such a bag is the baseline that networks must beat (Joulin et al. 2017, arXiv:1607.01759),
and beside a network it is a cheap second opinion. ``NGrams`` says which runs there are; ``NGramBag`` holds
those of the training texts, and encodes a text as their ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features import ragged
from gonie.features.trie import NONE, Symbols, Trie, count_grams
from gonie.features.vocabulary import RESERVED, UNKNOWN, Vocabulary

Ints = NDArray[np.int64]
Lengths = tuple[int, int]
"""The shortest and the longest n-grams; (0, 0) is none."""

WORD = "\t"  # before an n-gram of words: the running text has no tab, so none of characters looks like it
BLOCK = 20_000  # texts that are laid out at a time
_WORDS = re.compile(r"\w+|[^\w\s]")
_PRINTED = re.compile(r"\S+")


class NGrams:
    """The n-grams of characters, and of words, of the lengths asked for.

    Characters are those of the running text, each run of blanks as one blank, so that an n-gram may reach
    from one word into the next. A word is a run of letters and digits, or any other single character. N-grams
    of words are written with a tab before them and blanks between: ``"\\tnot good"``.
    """

    name = "bag"

    def __init__(self, *, chars: Lengths = (1, 4), words: Lengths = (0, 0), lowercase: bool = True) -> None:
        sound = all(0 < low <= high or low == high == 0 for low, high in (chars, words))
        if not sound or not any((*chars, *words)):
            raise InputError(
                expected="the shortest and longest n-grams of characters or words, such as (1, 4)",
                got=f"characters {chars}, words {words}",
                fix="Change the n-grams of the recipe; (0, 0) is none",
            )
        self.chars = chars
        self.words = words
        self.lowercase = lowercase

    def running(self, text: str) -> str:
        """The text as its n-grams are cut from it: single blanks, in lower case if so asked."""
        return " ".join((text.lower() if self.lowercase else text).split())

    def extract(self, text: str) -> list[str]:
        """All n-grams of a text as strings: characters before words, short before long, left to right."""
        running = self.running(text)
        words = _WORDS.findall(running)
        return [
            *(running[at : at + n] for n in _span(self.chars) for at in range(len(running) - n + 1)),
            *(
                WORD + " ".join(words[at : at + n])
                for n in _span(self.words)
                for at in range(len(words) - n + 1)
            ),
        ]

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where each n-gram of ``extract`` stands in ``text`` as given: its first character, and its end."""
        origins = self._origins(text)
        letters = [(at, at + 1) for at in range(len(origins))]
        words = [word.span() for word in _WORDS.finditer(self.running(text))]
        return [
            (origins[parts[at][0]], origins[parts[at + n - 1][1] - 1] + 1)
            for parts, lengths in ((letters, self.chars), (words, self.words))
            for n in _span(lengths)
            for at in range(len(parts) - n + 1)
        ]

    def _origins(self, text: str) -> list[int]:
        """Which character of ``text`` each one of the running text comes from."""
        origins: list[int] = []
        for printed in _PRINTED.finditer(text):
            if origins:
                origins.append(printed.start() - 1)  # the blank before it
            for at in range(*printed.span()):
                letters = text[at].lower() if self.lowercase else text[at]  # of some capitals there are two
                origins += [at] * len(letters)
        return origins

    def to_json(self) -> dict[str, Any]:
        """Plain values for the bundle."""
        return {
            "name": self.name,
            "chars": list(self.chars),
            "words": list(self.words),
            "lowercase": self.lowercase,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> NGrams:
        """What ``to_json`` wrote."""
        (shortest, longest), (fewest, most) = saved["chars"], saved["words"]
        return cls(chars=(shortest, longest), words=(fewest, most), lowercase=bool(saved["lowercase"]))


class NGramBag:
    """The n-grams of the training texts with their ids; ``encode`` finds them in any texts."""

    def __init__(self, *, ngrams: NGrams, vocabulary: Vocabulary) -> None:
        self.ngrams = ngrams
        self.vocabulary = vocabulary
        strings = vocabulary.strings
        ids = np.arange(len(RESERVED), len(vocabulary))
        of_words = np.array([string.startswith(WORD) for string in strings], dtype=bool)
        self._characters = Trie(Symbols.of_characters(list(compress(strings, ~of_words))), ids[~of_words])
        parted = [string.removeprefix(WORD).split(" ") for string in compress(strings, of_words)]
        self._numbers = {word: i for i, word in enumerate(dict.fromkeys(chain.from_iterable(parted)))}
        self._words = Trie(
            Symbols.of_rows([[self._numbers[word] for word in row] for row in parted]), ids[of_words]
        )

    @classmethod
    def fit(
        cls, texts: Iterable[str], *, ngrams: NGrams, min_count: int = 1, max_size: int | None = None
    ) -> NGramBag:
        """The n-grams seen at least ``min_count`` times, the ``max_size`` most frequent of them.

        All texts are held in memory as they are counted.
        """
        running = [ngrams.running(text) for text in texts]
        tally = _Tally(min_count=max(min_count, 1), max_size=max_size)
        if any(ngrams.chars):
            joined = "".join(running)
            tally.add(Symbols.of_characters(running), ngrams.chars, lambda at, end: joined[at:end])
        if any(ngrams.words):
            parted = [_WORDS.findall(text) for text in running]
            flat = list(chain.from_iterable(parted))
            numbers = {word: i for i, word in enumerate(dict.fromkeys(flat))}
            symbols = Symbols.of_rows([[numbers[word] for word in row] for row in parted])
            tally.add(symbols, ngrams.words, lambda at, end: WORD + " ".join(flat[at:end]))
        return cls(ngrams=ngrams, vocabulary=tally.vocabulary())

    def encode(self, texts: Iterable[str]) -> tuple[NDArray[np.int32], Ints]:
        """Ids of the known n-grams of each text, in the order of ``extract``: flat (F,), offsets (N + 1,).

        An n-gram that comes twice is there twice; one that training has not met has no id and is left out.
        """
        stream = iter(texts)
        flat, sizes = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
        while block := list(islice(stream, BLOCK)):
            ids, counts = self._encoded([self.ngrams.running(text) for text in block])
            flat.append(ids)
            sizes.append(counts)
        return np.concatenate(flat), ragged.offsets(np.concatenate(sizes))

    def places(self, text: str) -> Ints:
        """Where each n-gram that ``encode`` finds stands in the text as given: (F, 2), first and end."""
        grams = zip(self.ngrams.extract(text), self.ngrams.places(text), strict=True)
        known = [place for gram, place in grams if self.vocabulary.id(gram) != UNKNOWN]
        return np.array(known, dtype=np.int64).reshape(-1, 2)

    def to_json(self) -> dict[str, Any]:
        """Plain values for the bundle."""
        return {"ngrams": self.ngrams.to_json(), "vocabulary": self.vocabulary.to_json()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> NGramBag:
        """What ``to_json`` wrote."""
        return cls(
            ngrams=NGrams.from_json(saved["ngrams"]), vocabulary=Vocabulary.from_json(saved["vocabulary"])
        )

    def _encoded(self, running: list[str]) -> tuple[NDArray[np.int32], Ints]:
        """Flat ids of running texts, and how many each text has."""
        found = self._characters.find(Symbols.of_characters(running)) if any(self.ngrams.chars) else []
        if any(self.ngrams.words):
            number = self._numbers.get
            parted = [[number(word, NONE) for word in _WORDS.findall(text)] for text in running]
            found += self._words.find(Symbols.of_rows(parted))
        sizes = np.zeros(len(running), dtype=np.int64)
        for _, counts in found:
            sizes += counts
        flat = np.empty(int(sizes.sum()), dtype=np.int32)
        places = ragged.offsets(sizes)[:-1]
        for ids, counts in found:  # each length goes behind the shorter ones of the same text
            flat[ragged.positions(places, counts)] = ids
            places = places + counts
        return flat, sizes


class _Tally:
    """N-grams as they are counted, until they are a vocabulary."""

    def __init__(self, *, min_count: int, max_size: int | None) -> None:
        self._min_count = min_count
        self._max_size = max_size
        self._entries: list[tuple[str, int]] = []
        self._total = 0

    def add(self, symbols: Symbols, lengths: Lengths, spelled: Callable[[int, int], str]) -> None:
        """Count n-grams; ``spelled`` gives the string of the symbols from one place to another."""
        for grams in count_grams(symbols, longest=lengths[1], floor=self._min_count):
            if grams.length < lengths[0]:
                continue
            self._total += grams.total
            kept = _frequent(grams.counts, self._max_size)
            strings = [spelled(at, at + grams.length) for at in grams.places[kept].tolist()]
            self._entries += zip(strings, grams.counts[kept].tolist(), strict=True)

    def vocabulary(self) -> Vocabulary:
        """The n-grams in the order that every vocabulary has; whatever was not kept counts as unknown."""
        self._entries.sort(key=lambda entry: (-entry[1], entry[0]))
        kept = self._entries[: self._max_size]
        strings, counts = [string for string, _ in kept], [count for _, count in kept]
        return Vocabulary(strings=strings, counts=counts, unknown=self._total - sum(counts))


def _frequent(counts: Ints, most: int | None) -> NDArray[np.bool_]:
    """Which counts may be among the ``most`` highest: with all that tie with the last of them."""
    if most is None or len(counts) <= most:
        return np.ones(len(counts), dtype=bool)
    enough: NDArray[np.bool_] = counts >= np.partition(counts, -most)[-most]
    return enough


def _span(lengths: Lengths) -> range:
    return range(lengths[0], lengths[1] + 1) if any(lengths) else range(0)
