"""Gradients by asking the function itself: central differences, what every derivation is held against."""

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
    """(f(x + ε) - f(x - ε)) / 2ε for entries of ``array``, which ``function`` reads.

    The error is ε²/6 f''' of the formula and about 1e-16 |f| / ε of the rounding: at ε = 1e-4 both are some
    1e-9 or less, if the array is float64. Each entry is changed in place, and put back.
    ``entries`` are places in the flattened array; all of it, if none are given. Shape: (len(entries),).
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
    return float((ahead - behind) / (above - below))  # the step as it was rounded, not as it was asked for


def relative_error(one: NDArray[Any], other: NDArray[Any], *, least: float = 0.0) -> float:
    """‖a - n‖ / (‖a‖ + ‖n‖): 0 for equal gradients, 1 for opposite ones, however large they are.

    ``least`` is the smallest size that is divided by: below it rounding alone is a large part of a gradient.
    """
    size = float(np.linalg.norm(one) + np.linalg.norm(other))
    size = least if size < least else size  # what is no number stays none
    return float(np.linalg.norm(one - other)) / size if size else 0.0
