"""What a classifier makes of one text, before it becomes a label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Reading(NamedTuple):
    """The scores of a text, and what its vector is made of."""

    scores: NDArray[np.float32]
    """(K,) one of each label, before the temperature; of a sigmoid model, (0, z)."""
    words: tuple[NDArray[np.float32], ...]
    """For each sentence (tokens,): the share of each token in the sentence's vector, 1 in sum."""
    sentences: NDArray[np.float32]
    """(S,): the share of each sentence in the text's vector, 1 in sum; [1.0] for a model of one level."""
