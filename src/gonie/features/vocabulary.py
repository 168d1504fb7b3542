"""Vocabulary: a two-way mapping of strings and ids, with counts.

Ids 0 (padding) and 1 (unknown) are reserved and stand for no string. A word spelled ``<unk>`` in the data is
an ordinary word. The counts alone determine the order, so the same corpus gives the same ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import BundleError

PADDING, UNKNOWN = 0, 1
RESERVED = ("<padding>", "<unknown>")


def tally(sequences: Iterable[Iterable[str]]) -> Counter[str]:
    """Count how often each string occurs, in one pass over sequences that need not fit in memory."""
    counts: Counter[str] = Counter()
    for sequence in sequences:
        counts.update(sequence)
    return counts


class Vocabulary:
    """Immutable strings with ids from 2 on, by descending count, then by string.

    The counted words come first, then words from other sources with count 0 (``extended``). Ids below
    ``trained`` were seen in training, those from ``trained`` on were not. ``unknown`` is the number of tokens
    left out by ``min_count`` or ``max_size``, and the count of id 1.
    """

    __slots__ = ("_counts", "_index", "_strings")

    def __init__(self, *, strings: Sequence[str], counts: Sequence[int], unknown: int = 0) -> None:
        self._strings = [*RESERVED, *strings]
        self._counts = np.array([0, unknown, *counts], dtype=np.int64)
        self._index = dict(zip(strings, range(len(RESERVED), len(self._strings)), strict=True))
        if not len(self._index) == len(strings) == len(counts):
            raise ValueError(
                "strings must be distinct and have one count each: got "
                f"{len(strings)} strings, {len(self._index)} of them distinct, and {len(counts)} counts"
            )

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], *, min_count: int = 1, max_size: int | None = None
    ) -> Vocabulary:
        """Build a vocabulary of the ``max_size`` most frequent strings with at least ``min_count`` counts."""
        floor = max(min_count, 1)
        kept = [(string, count) for string, count in counts.items() if count >= floor]
        kept.sort(key=lambda entry: (-entry[1], entry[0]))
        kept = kept[:max_size]
        unknown = sum(counts.values()) - sum(count for _, count in kept)
        return cls(
            strings=[string for string, _ in kept], counts=[count for _, count in kept], unknown=unknown
        )

    @classmethod
    def from_sequences(
        cls, sequences: Iterable[Iterable[str]], *, min_count: int = 1, max_size: int | None = None
    ) -> Vocabulary:
        """Build a vocabulary with ``from_counts`` from all strings in ``sequences``, read once."""
        return cls.from_counts(tally(sequences), min_count=min_count, max_size=max_size)

    def __len__(self) -> int:
        return len(self._strings)

    def __contains__(self, string: object) -> bool:
        return string in self._index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self._strings == other._strings and np.array_equal(self._counts, other._counts)

    __hash__ = None  # type: ignore[assignment]  # compared by content, which may be large

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} ids, {self.trained:,} of them trained, {self.tokens:,} tokens)"

    @property
    def strings(self) -> list[str]:
        """The strings of ids 2, 3, …"""
        return self._strings[len(RESERVED) :]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of each id (V,), read-only."""
        view = self._counts.view()
        view.flags.writeable = False
        return view

    @property
    def trained(self) -> int:
        """The number of leading ids seen in training, including the two reserved ones."""
        return len(RESERVED) + int(np.count_nonzero(self._counts[len(RESERVED) :]))

    @property
    def tokens(self) -> int:
        """The number of tokens counted, including those left out as unknown."""
        return int(self._counts.sum())

    def id(self, string: str) -> int:
        """Return the id of ``string``, or 1 if it is unknown."""
        return self._index.get(string, UNKNOWN)

    def first(self, keys: Iterable[str]) -> int:
        """Return the id of the first known key (see ``normalize.fallbacks``), or 1 if none is known."""
        index = self._index
        return next((index[key] for key in keys if key in index), UNKNOWN)

    def most_frequent(self, strings: Iterable[str]) -> int:
        """Return the lowest id of the strings, that of the most frequent one, or 1 if none is known."""
        index = self._index
        return min((index[string] for string in strings if string in index), default=UNKNOWN)

    def ids(self, strings: Iterable[str]) -> NDArray[np.int32]:
        """Return the id of each string (N,), 1 for unknown ones."""
        return np.fromiter(map(self._index.get, strings, repeat(UNKNOWN)), dtype=np.int32)

    def string(self, id: int) -> str:
        """Return the string of an id; ``<padding>`` and ``<unknown>`` for 0 and 1, for display."""
        if not 0 <= id < len(self._strings):
            raise IndexError(f"id {id} is out of range: 0 to {len(self) - 1}")
        return self._strings[id]

    def count(self, id: int) -> int:
        """Return how often the string of ``id`` was seen, 0 for words from other sources."""
        return int(self._counts[id])

    def singletons(self) -> NDArray[np.bool_]:
        """Return which ids were seen exactly once (V,). Training may replace these by the unknown word."""
        once: NDArray[np.bool_] = self._counts == 1
        once[: len(RESERVED)] = False
        return once

    def extended(self, strings: Iterable[str]) -> Vocabulary:
        """Return this vocabulary with each new string appended once, with count 0, in the order given."""
        known = self._index
        new = [string for string in dict.fromkeys(strings) if string not in known]
        counts = chain(self._counts[len(RESERVED) :].tolist(), repeat(0, len(new)))
        return Vocabulary(
            strings=[*self.strings, *new], counts=list(counts), unknown=int(self._counts[UNKNOWN])
        )

    def merged(self, other: Vocabulary) -> Vocabulary:
        """Return the strings of both vocabularies with the sums of their counts, those not counted last."""
        counts = Counter(dict(zip(self.strings, self._counts[len(RESERVED) :].tolist(), strict=True)))
        counts.update(dict(zip(other.strings, other._counts[len(RESERVED) :].tolist(), strict=True)))
        counted = Vocabulary.from_counts(counts).extended(counts)
        unknown = int(self._counts[UNKNOWN] + other._counts[UNKNOWN])
        return Vocabulary(
            strings=counted.strings, counts=counted._counts[len(RESERVED) :].tolist(), unknown=unknown
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain lists for the bundle: strings and counts of ids 2, 3, … without trailing zeros."""
        return {
            "strings": self.strings,
            "counts": self._counts[len(RESERVED) : self.trained].tolist(),
            "unknown": int(self._counts[UNKNOWN]),
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Vocabulary:
        """Restore a vocabulary from the result of ``to_json``."""
        strings, counts = saved["strings"], saved["counts"]
        if len(counts) > len(strings) or len(set(strings)) != len(strings):
            raise BundleError(
                f"damaged vocabulary: {len(strings)} strings, {len(set(strings))} of them distinct, and "
                f"{len(counts)} counts. Export the model again"
            )
        counts = [*counts, *repeat(0, len(strings) - len(counts))]
        return cls(strings=strings, counts=counts, unknown=int(saved["unknown"]))
