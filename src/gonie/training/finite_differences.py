"""Numerical gradients by central differences, to verify derived gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def central_differences(
    function: Callable[[], float],
    array: NDArray[Any],
    *,
    epsilon: float,
    entries: Iterable[int] | None = None,
) -> Floats:
    """Return (f(x + ε) - f(x - ε)) / 2ε for entries of ``array``, which ``function`` reads.

    The error is ε²/6 f''' from the formula and about 1e-16 |f| / ε from rounding. At ε = 1e-4 both are about
    1e-9 or less, if the array is float64. Each entry is changed in place and restored. ``entries`` are
    indices into the flattened array; None means all. Shape: (len(entries),).
    """
    places = range(array.size) if entries is None else entries
    return np.array([_slope(function, array, place, epsilon) for place in places], dtype=np.float64)


def _slope(function: Callable[[], float], array: NDArray[Any], place: int, epsilon: float) -> float:
    flat = array.flat
    here = flat[place]
    try:
        flat[place] = here + epsilon
        above, ahead = flat[place], function()
        flat[place] = here - epsilon
        below, behind = flat[place], function()
    finally:
        flat[place] = here
    return float((ahead - behind) / (above - below))  # the step after rounding, not the requested one


def relative_error(one: NDArray[Any], other: NDArray[Any], *, least: float = 0.0) -> float:
    """Return ‖a - n‖ / (‖a‖ + ‖n‖): 0 for equal gradients, 1 for opposite ones, whatever their size.

    ``least`` is the smallest denominator. Below it, rounding is a large part of a gradient.
    """
    size = float(np.linalg.norm(one) + np.linalg.norm(other))
    size = least if size < least else size  # nan stays nan
    return float(np.linalg.norm(one - other)) / size if size else 0.0
