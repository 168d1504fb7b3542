"""N-gram bags: the short runs of characters and words in a text, regardless of order.

A linear model over such a bag is the baseline that networks must beat (Joulin et al. 2017, arXiv:1607.01759).
It can also be combined with a network at little cost. ``NGrams`` defines the n-grams. ``NGramBag`` holds
those of the training texts and encodes a text as their ids.
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
from gonie.text.fold import Folded, fold, fold_text

Ints = NDArray[np.int64]
Lengths = tuple[int, int]
"""The shortest and the longest n-grams; (0, 0) is none."""

WORD = "\t"  # prefix of a word n-gram: the text has no tab, so no character n-gram equals it
BLOCK = 20_000  # texts encoded at a time
_WORDS = re.compile(r"\w+|[^\w\s]")
_PRINTED = re.compile(r"\S+")


class NGrams:
    """Character and word n-grams of the given lengths.

    Characters are those of the text with each run of white space as one space, so an n-gram may span words. A
    word is a run of letters and digits, or any other single character. Word n-grams are written with a
    leading tab and spaces in between: ``"\\tnot good"``. ``fold`` applies ``gonie.text.fold``.
    """

    name = "bag"

    def __init__(
        self,
        *,
        chars: Lengths = (1, 4),
        words: Lengths = (0, 0),
        lowercase: bool = True,
        fold: bool = False,
    ) -> None:
        valid = all(0 < low <= high or low == high == 0 for low, high in (chars, words))
        if not valid or not any((*chars, *words)):
            raise InputError(
                f"invalid n-gram lengths: chars {list(chars)}, words {list(words)}",
                fix="Set the shortest and longest n-gram, such as [1, 4], or [0, 0] for one of the two",
            )
        self.chars = chars
        self.words = words
        self.lowercase = lowercase
        self.fold = fold

    def running(self, text: str) -> str:
        """Return the text with single spaces, folded and in lower case if these are set."""
        text = fold_text(text) if self.fold else text
        return " ".join((text.lower() if self.lowercase else text).split())

    def extract(self, text: str) -> list[str]:
        """Return all n-grams of a text: characters before words, short before long, left to right."""
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
        """Return the start and end of each n-gram of ``extract`` in the original ``text``."""
        folded = fold(text) if self.fold else Folded(text, range(len(text) + 1))
        origins = self._origins(folded.text)
        letters = [(at, at + 1) for at in range(len(origins))]
        words = [word.span() for word in _WORDS.finditer(self.running(text))]
        return [
            (folded.places[origins[parts[at][0]]], folded.places[origins[parts[at + n - 1][1] - 1] + 1])
            for parts, lengths in ((letters, self.chars), (words, self.words))
            for n in _span(lengths)
            for at in range(len(parts) - n + 1)
        ]

    def _origins(self, text: str) -> list[int]:
        """Return the index in a (folded) text of each character of ``running(text)``."""
        origins: list[int] = []
        for printed in _PRINTED.finditer(text):
            if origins:
                origins.append(printed.start() - 1)  # the white space before it
            for at in range(*printed.span()):
                letters = text[at].lower() if self.lowercase else text[at]  # some capitals give two letters
                origins += [at] * len(letters)
        return origins

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle."""
        return {
            "name": self.name,
            "chars": list(self.chars),
            "words": list(self.words),
            "lowercase": self.lowercase,
            **({"fold": True} if self.fold else {}),
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> NGrams:
        """Restore the n-grams from the result of ``to_json``."""
        (shortest, longest), (fewest, most) = saved["chars"], saved["words"]
        return cls(
            chars=(shortest, longest),
            words=(fewest, most),
            lowercase=bool(saved["lowercase"]),
            fold=bool(saved.get("fold", False)),
        )


class NGramBag:
    """The n-grams of the training texts with their ids. ``encode`` finds them in any text."""

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
        """Build a bag of the ``max_size`` most frequent n-grams that occur at least ``min_count`` times.

        All texts are held in memory while they are counted.
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
        """Return the ids of the known n-grams of each text: flat (F,), offsets (N + 1,).

        The order is that of ``extract``. An n-gram that occurs twice is listed twice. An n-gram not seen in
        training has no id and is left out.
        """
        stream = iter(texts)
        flat, sizes = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
        while block := list(islice(stream, BLOCK)):
            ids, counts = self._encoded([self.ngrams.running(text) for text in block])
            flat.append(ids)
            sizes.append(counts)
        return np.concatenate(flat), ragged.offsets(np.concatenate(sizes))

    def places(self, text: str) -> Ints:
        """Return the start and end in the original text of each n-gram that ``encode`` finds: (F, 2)."""
        grams = zip(self.ngrams.extract(text), self.ngrams.places(text), strict=True)
        known = [place for gram, place in grams if self.vocabulary.id(gram) != UNKNOWN]
        return np.array(known, dtype=np.int64).reshape(-1, 2)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle."""
        return {"ngrams": self.ngrams.to_json(), "vocabulary": self.vocabulary.to_json()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> NGramBag:
        """Restore the bag from the result of ``to_json``."""
        return cls(
            ngrams=NGrams.from_json(saved["ngrams"]), vocabulary=Vocabulary.from_json(saved["vocabulary"])
        )

    def _encoded(self, running: list[str]) -> tuple[NDArray[np.int32], Ints]:
        """Return the flat ids of normalised texts, and the number per text."""
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
        for ids, counts in found:  # each length follows the shorter ones of the same text
            flat[ragged.positions(places, counts)] = ids
            places = places + counts
        return flat, sizes


class _Tally:
    """Count n-grams and build a vocabulary from them."""

    def __init__(self, *, min_count: int, max_size: int | None) -> None:
        self._min_count = min_count
        self._max_size = max_size
        self._entries: list[tuple[str, int]] = []
        self._total = 0

    def add(self, symbols: Symbols, lengths: Lengths, spelled: Callable[[int, int], str]) -> None:
        """Count n-grams. ``spelled`` returns the string of the symbols in a range."""
        for grams in count_grams(symbols, longest=lengths[1], floor=self._min_count):
            if grams.length < lengths[0]:
                continue
            self._total += grams.total
            kept = _frequent(grams.counts, self._max_size)
            strings = [spelled(at, at + grams.length) for at in grams.places[kept].tolist()]
            self._entries += zip(strings, grams.counts[kept].tolist(), strict=True)

    def vocabulary(self) -> Vocabulary:
        """Return the n-grams as a vocabulary in its usual order. All other n-grams count as unknown."""
        self._entries.sort(key=lambda entry: (-entry[1], entry[0]))
        kept = self._entries[: self._max_size]
        strings, counts = [string for string, _ in kept], [count for _, count in kept]
        return Vocabulary(strings=strings, counts=counts, unknown=self._total - sum(counts))


def _frequent(counts: Ints, most: int | None) -> NDArray[np.bool_]:
    """Return which counts may be among the ``most`` highest, including all ties with the last of them."""
    if most is None or len(counts) <= most:
        return np.ones(len(counts), dtype=bool)
    enough: NDArray[np.bool_] = counts >= np.partition(counts, -most)[-most]
    return enough


def _span(lengths: Lengths) -> range:
    return range(lengths[0], lengths[1] + 1) if any(lengths) else range(0)
