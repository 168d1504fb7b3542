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


class FormMemory:
    """Vectors of forms by a key; safe to share between threads.

    It has two generations of at most ``most`` forms. What is asked for lives in the younger one; when that is
    full it becomes the older one, and what nobody asked for since the last time is forgotten: words that come
    again and again stay, without a note being made of each use.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._young: dict[bytes, Vectors] = {}
        self._old: dict[bytes, Vectors] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def look_up(self, keys: Sequence[bytes], compute: Compute) -> Vectors:
        """The vectors (U, F) of the forms with these keys; those not remembered are computed together."""
        with self._lock:
            found = [self._young.get(key) for key in keys]
            for place, known in enumerate(found):
                if known is None and (known := self._old.get(keys[place])) is not None:
                    found[place] = known
                    self._keep(keys[place], known)
        unknown = [place for place, known in enumerate(found) if known is None]
        if unknown:
            made = compute(np.array(unknown))
            for place, vector in zip(unknown, made, strict=True):
                found[place] = vector
            with self._lock:
                for place, vector in zip(unknown, made, strict=True):
                    self._keep(keys[place], vector.copy())  # else it would keep all others alive
        return np.stack(found)  # type: ignore[arg-type]

    def _keep(self, key: bytes, vector: Vectors) -> None:
        if len(self._young) >= self._most:
            self._old, self._young = self._young, {}
        self._young[key] = vector


def keys_of(rows: NDArray[np.int64], lengths: Iterable[int]) -> list[bytes]:
    """A key for each of U rows of ids (U, C): its first so many, whatever is beside them."""
    joined, width = rows.astype(np.int32).tobytes(), 4 * rows.shape[1]
    return [joined[at * width : at * width + 4 * length] for at, length in enumerate(lengths)]
