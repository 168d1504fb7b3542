"""Nested samples: every sample of a seed contains the smaller samples of the same seed.

All examples are put in one order, and a sample is its beginning. The order is random within a stratum, such
as the texts with a label, and the strata are spread evenly over it. So a sample has nearly the same share of
each stratum as all examples, which makes small samples vary less than those of plain random order.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

STREAM = 8
"""Tells the random numbers of a sample from others of the same seed."""


def nested_sample(strata: Sequence[Hashable], size: int, seed: int) -> list[int]:
    """Return the rows of a sample of ``size`` examples, in order. ``strata`` has the stratum of each."""
    return sorted(nested_order(strata, seed)[:size].tolist())


def nested_order(strata: Sequence[Hashable], seed: int) -> NDArray[np.int64]:
    """Return all rows in an order whose beginnings are the samples.

    The example at place j of the n examples of a stratum, in random order, gets the position (j + u) / n,
    with a random u in [0, 1) for the stratum.
    """
    generator = np.random.default_rng([seed, STREAM])
    rows: dict[Hashable, list[int]] = {}
    for row, stratum in enumerate(strata):
        rows.setdefault(stratum, []).append(row)
    positions = np.empty(len(strata))  # (N,)
    for own in rows.values():  # in the order of their first rows, so that names of strata do not matter
        shuffled = generator.permutation(np.array(own, dtype=np.int64))
        positions[shuffled] = (np.arange(len(own)) + generator.random()) / len(own)
    return np.argsort(positions, kind="stable")
