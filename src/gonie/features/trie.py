"""Count and find n-grams of any symbols with array operations, without a Python loop over n-grams.

A short review has a hundred n-grams and a corpus has millions. So all texts are stored as one array of
symbols, characters or words, and n-grams grow by one symbol at a time. An n-gram of length n is the number of
its prefix, among those of length n - 1, and its last symbol. No n-gram is more frequent than its prefix, so
n-grams that are too rare at one length are dropped before the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged

Ints = NDArray[np.int64]

NONE = -1
"""A symbol that is in no known n-gram, and the id of a node that is only a prefix of longer n-grams."""

_SHIFT = 32  # a prefix and a symbol take 32 bits each


@dataclass(frozen=True, slots=True)
class Symbols:
    """Texts as a flat array of symbols (M,), and the start of each text (N + 1,)."""

    flat: Ints
    offsets: Ints

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[int]]) -> Symbols:
        """Create symbols from rows of numbers."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        return cls(flat, ragged.offsets(lengths))

    @classmethod
    def of_characters(cls, texts: Sequence[str]) -> Symbols:
        """Create symbols from characters, as code points. Lone surrogates are allowed."""
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(points.astype(np.int64), ragged.offsets(lengths))

    def left(self) -> Ints:
        """Return the number of symbols from each position to the end of its text (M,)."""
        ends = np.repeat(self.offsets[1:], np.diff(self.offsets))
        left: Ints = ends - np.arange(len(self.flat))
        return left

    def owners(self) -> Ints:
        """Return the text of each position (M,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True, slots=True)
class Grams:
    """N-grams of one length: a position and the count of each, and the total number of n-grams."""

    length: int
    places: Ints
    counts: Ints
    total: int


def count_grams(symbols: Symbols, *, longest: int, floor: int) -> Iterator[Grams]:
    """Yield the n-grams that occur at least ``floor`` times, for each length from 1 to ``longest``."""
    left = symbols.left()
    places = np.arange(len(symbols.flat))  # starts of n-grams whose prefix is frequent enough
    prefixes = np.zeros(len(places), dtype=np.int64)
    for n in range(1, longest + 1):
        fits = left[places] >= n
        places, prefixes = places[fits], prefixes[fits]
        keys = prefixes << _SHIFT | symbols.flat[places + (n - 1)]
        _, firsts, numbers, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        frequent = counts >= floor
        yield Grams(n, places[firsts[frequent]], counts[frequent], int(np.count_nonzero(left >= n)))
        kept = frequent[numbers]
        places, prefixes = places[kept], numbers[kept]


class Trie:
    """Known n-grams by their prefixes: for each length, the sorted keys and the id of each.

    A key combines a node of the previous length and a symbol. Its position in the order is the node it leads
    to.
    """

    def __init__(self, grams: Symbols, ids: Ints) -> None:
        lengths = np.diff(grams.offsets)
        nodes = np.zeros(len(lengths), dtype=np.int64)
        self._levels: list[tuple[Ints, Ints]] = []
        for n in range(1, int(lengths.max(initial=0)) + 1):
            reach = np.flatnonzero(lengths >= n)
            keys = nodes[reach] << _SHIFT | grams.flat[grams.offsets[reach] + (n - 1)]
            known, numbers = np.unique(keys, return_inverse=True)
            nodes[reach] = numbers
            own = np.full(len(known), NONE, dtype=np.int64)
            whole = lengths[reach] == n
            own[numbers[whole]] = ids[reach[whole]]
            self._levels.append((known, own))

    def find(self, symbols: Symbols) -> list[tuple[Ints, Ints]]:
        """Return, for each length, the ids of known n-grams in order, and the number per text (N,)."""
        left, owners, texts = symbols.left(), symbols.owners(), len(symbols.offsets) - 1
        places = np.arange(len(symbols.flat))
        nodes = np.zeros(len(places), dtype=np.int64)
        found = []
        for n, (keys, ids) in enumerate(self._levels, 1):
            fits = left[places] >= n
            places, nodes = places[fits], nodes[fits]
            wanted = nodes << _SHIFT | symbols.flat[places + (n - 1)]  # negative at NONE, unlike any key
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            known = keys[at] == wanted
            places, nodes = places[known], at[known]
            own = ids[nodes]
            listed = own != NONE
            found.append((own[listed], np.bincount(owners[places[listed]], minlength=texts).astype(np.int64)))
        return found
