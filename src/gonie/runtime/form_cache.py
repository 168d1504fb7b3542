"""A cache of the vectors of word forms, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Compute = Callable[[NDArray[np.int64]], Vectors]
"""Computes the vectors (n, F) of the forms at these n places of a batch."""

MOST = 16_384  # forms per generation: the cache holds at most twice as many
FEWEST = 256  # initial capacity


class FormCache:
    """A cache of form vectors by key, safe to share between threads.

    It has two generations of at most ``most`` forms. Every form looked up is put into the younger one. When
    that is full it becomes the older one, and the previous older one is discarded. Frequent words thus stay
    in the cache, without recording each use.
    """

    def __init__(self, width: int, most: int = MOST) -> None:
        self.width, self._most = width, most
        self._young, self._old = _Generation(width, most), _Generation(width, 0)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._young.rows) + len(self._old.rows)

    def look_up(self, keys: Sequence[bytes], compute: Compute) -> Vectors:
        """Return the vectors (U, F) of the forms with these keys. Missing ones are computed in one call."""
        unknown: list[int] = []
        with self._lock:
            rows = [self._young.rows.get(key, -1) for key in keys]
            found = self._young.table[rows]  # a copy; missing rows are filled below
            if -1 not in rows:
                return found
            older: list[int] = []
            for place, row in enumerate(rows):
                if row < 0:
                    (older if keys[place] in self._old.rows else unknown).append(place)
            if older:
                found[older] = self._old.table[[self._old.rows[keys[place]] for place in older]]
                self._add([keys[place] for place in older], found[older])
        if unknown:
            found[unknown] = made = compute(np.array(unknown))
            with self._lock:
                self._add([keys[place] for place in unknown], made)
        return found

    def _add(self, keys: list[bytes], vectors: Vectors) -> None:
        while (added := self._young.add(keys, vectors)) < len(keys):
            keys, vectors = keys[added:], vectors[added:]
            self._old, self._young = self._young, _Generation(self.width, self._most)


class _Generation:
    """A table of up to ``most`` vectors, and the row of each key."""

    def __init__(self, width: int, most: int) -> None:
        self.rows: dict[bytes, int] = {}
        self.table: Vectors = np.zeros((FEWEST, width), dtype=np.float32)
        self._most, self._used = most, 0

    def add(self, keys: list[bytes], vectors: Vectors) -> int:
        """Add as many vectors as fit and return their number. A key that exists gets a new row."""
        some = keys[: self._most - self._used]
        first, self._used = self._used, self._used + len(some)
        while self._used > len(self.table):  # double the capacity as needed
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        self.table[first : self._used] = vectors[: len(some)]
        self.rows.update(zip(some, range(first, self._used), strict=True))
        return len(some)


def keys_of(rows: NDArray[np.int64], lengths: Iterable[int]) -> list[bytes]:
    """Return a key for each of U rows of ids (U, C): the bytes of its first ``length`` ids."""
    joined, width = rows.astype(np.int32).tobytes(), 4 * rows.shape[1]
    return [joined[at * width : at * width + 4 * length] for at, length in enumerate(lengths)]
