"""What n-grams add straight to the scores, on the tokens they are read from.

An n-gram bag passes by the vectors of the words, and so by whatever explains those. But an n-gram stands
somewhere in the text, and there are tokens there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gonie.explain.odds import Floats
from gonie.text.passages import Passage

Ints = NDArray[np.int64]


def spread(weights: Floats, places: Ints, passage: Passage) -> Floats:
    """Each n-gram's weight, in even shares on the tokens that it has characters of.

    What touches no token (a blank, or words beyond ``max_tokens``) is on none, and missing from the sum.

    Shape: weights (F,), places (F, 2) in the running text, first and end -> (M,).
    """
    starts = np.array([start for sentence in passage.sentences for start in sentence.starts], dtype=np.int64)
    ends = np.array([end for sentence in passage.sentences for end in sentence.ends], dtype=np.int64)
    seen = np.flatnonzero(ends > starts)  # those with characters; both ends in order, as texts are cut
    first = np.searchsorted(ends[seen], places[:, 0], side="right")  # (F,)
    after = np.maximum(np.searchsorted(starts[seen], places[:, 1], side="left"), first)  # (F,)
    shares = np.where(after > first, weights / np.maximum(after - first, 1), 0.0)  # (F,)
    steps = np.bincount(first, shares, len(seen) + 1) - np.bincount(after, shares, len(seen) + 1)
    found = np.zeros(len(starts))  # (M,)
    found[seen] = np.cumsum(steps)[:-1]
    return found
