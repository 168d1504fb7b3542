"""What is known of words by their letters, remembered from batch to batch in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Compute = Callable[[NDArray[np.int64]], Vectors]
"""Vectors (n, F) of the forms at these n places of a batch."""

MOST = 16_384  # forms that are remembered at least before any is forgotten; twice as many at most
FEWEST = 256  # for which there is room from the beginning


class FormMemory:
    """Vectors of forms by a key; safe to share between threads.

    It has two generations of at most ``most`` forms. What is asked for lives in the younger one; when that is
    full it becomes the older one, and what nobody asked for since the last time is forgotten: words that come
    again and again stay, without a note being made of each use.
    """

    def __init__(self, width: int, most: int = MOST) -> None:
        self.width, self._most = width, most
        self._young, self._old = _Generation(width, most), _Generation(width, 0)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._young.rows) + len(self._old.rows)

    def look_up(self, keys: Sequence[bytes], compute: Compute) -> Vectors:
        """The vectors (U, F) of the forms with these keys; those not remembered are computed together."""
        unknown: list[int] = []
        with self._lock:
            rows = [self._young.rows.get(key, -1) for key in keys]
            found = self._young.table[rows]  # a copy, in which what is missing follows
            if -1 not in rows:
                return found
            older: list[int] = []
            for place, row in enumerate(rows):
                if row < 0:
                    (older if keys[place] in self._old.rows else unknown).append(place)
            if older:
                found[older] = self._old.table[[self._old.rows[keys[place]] for place in older]]
                self._keep([keys[place] for place in older], found[older])
        if unknown:
            found[unknown] = made = compute(np.array(unknown))
            with self._lock:
                self._keep([keys[place] for place in unknown], made)
        return found

    def _keep(self, keys: list[bytes], vectors: Vectors) -> None:
        while (kept := self._young.keep(keys, vectors)) < len(keys):
            keys, vectors = keys[kept:], vectors[kept:]
            self._old, self._young = self._young, _Generation(self.width, self._most)


class _Generation:
    """Up to so many vectors, one beside the other, and which row each key has."""

    def __init__(self, width: int, most: int) -> None:
        self.rows: dict[bytes, int] = {}
        self.table: Vectors = np.zeros((FEWEST, width), dtype=np.float32)
        self._most, self._used = most, 0

    def keep(self, keys: list[bytes], vectors: Vectors) -> int:
        """How many, from the first, there was room for; one that is there already gets another row."""
        some = keys[: self._most - self._used]
        first, self._used = self._used, self._used + len(some)
        while self._used > len(self.table):  # twice the room, copied: a table grows as it is used
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        self.table[first : self._used] = vectors[: len(some)]
        self.rows.update(zip(some, range(first, self._used), strict=True))
        return len(some)


def keys_of(rows: NDArray[np.int64], lengths: Iterable[int]) -> list[bytes]:
    """A key for each of U rows of ids (U, C): its first so many, whatever is beside them."""
    joined, width = rows.astype(np.int32).tobytes(), 4 * rows.shape[1]
    return [joined[at * width : at * width + 4 * length] for at, length in enumerate(lengths)]
