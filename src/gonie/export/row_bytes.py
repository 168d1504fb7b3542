"""A matrix as bytes, with a scale for each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
LARGEST = 127  # of a byte
TINY = 1e-30  # instead of 0, where it is divided by


class RowBytes(NamedTuple):
    """``bytes`` (R, D) times ``scales`` (R,) is nearly the matrix: off by half a scale at most."""

    bytes: NDArray[np.int8]
    scales: Floats


def row_bytes(array: Floats, largest: int = LARGEST) -> RowBytes:
    """The largest number of each row of ``array`` (R, D) becomes ``largest``, or its opposite."""
    scales = np.maximum(np.abs(array).max(1, initial=0.0), TINY) / largest  # (R,)
    return RowBytes(np.rint(array / scales[:, None]).astype(np.int8), scales.astype(np.float32))
