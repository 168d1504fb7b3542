"""What a classifier makes of one passage: its scores, and what it looked at to reach them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Reading(NamedTuple):
    """The scores of a passage, and the share of each token and sentence in the vector they were made from.

    ``scores`` (K,) are raw, before the temperature; a sigmoid model gives (0, z). ``words`` has for each
    sentence the shares of its tokens in its vector, ``sentences`` (S,) those of the sentences in the text's;
    each sums to 1. A flat model has one sentence, of share 1.
    """

    scores: NDArray[np.float32]
    words: tuple[NDArray[np.float32], ...]
    sentences: NDArray[np.float32]
