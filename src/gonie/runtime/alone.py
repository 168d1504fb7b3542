"""A batch, one sentence at a time: for graphs whose answers would depend on a sentence's company."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
ROWS, IDS = ".rows", ".ids"
BY_TOKEN = ("words", "forms", "mask")  # (B, T)


def one_by_one(fed: Mapping[str, NDArray[Any]], lengths: NDArray[np.int64], width: int) -> Iterator[Arrays]:
    """What a graph is fed for each of B sentences, of what it would be fed for all, padded to ``width``.

    Features of a position (``G.ids`` and ``G.rows``, see ``session``) are cut to those of the sentence's
    own; what has a row for each form stays whole.
    """
    groups = [name.removesuffix(ROWS) for name in fed if name.endswith(ROWS)]
    for row, length in enumerate(lengths.tolist()):
        own = dict(fed)
        own.update({name: fed[name][row : row + 1, :length] for name in BY_TOKEN if name in fed})
        if "lengths" in fed:
            own["lengths"] = lengths[row : row + 1]
        for group in groups:
            places = fed[group + ROWS]  # ascending
            start, end = np.searchsorted(places, (row * width, (row + 1) * width))
            own[group + ROWS] = places[start:end] - row * width
            own[group + IDS] = fed[group + IDS][start:end]
        yield own
