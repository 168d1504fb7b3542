"""Operations on rows of unequal length in one flat array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def offsets(lengths: Ints) -> Ints:
    """Return the start of each row in the flat array, and the end of the last: (N,) -> (N + 1,)."""
    places = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=places[1:])
    return places


def positions(starts: Ints, lengths: Ints) -> Ints:
    """Return the flat indices of the rows that begin at ``starts``, row by row: (sum of lengths,).

    >>> positions(np.array([10, 0]), np.array([2, 3])).tolist()
    [10, 11, 0, 1, 2]
    """
    places = offsets(lengths)
    return np.repeat(starts - places[:-1], lengths) + np.arange(places[-1], dtype=np.int64)


def pad(flat: NDArray[np.integer], lengths: Ints, *, fill: int) -> Ints:
    """Convert a flat array to a right-padded table: (sum of lengths,) -> (N, longest)."""
    if len(lengths) == 1:
        return flat.astype(np.int64)[None]
    table = np.full((len(lengths), int(lengths.max(initial=0))), fill, dtype=np.int64)
    table[np.arange(table.shape[1]) < lengths[:, None]] = flat
    return table
