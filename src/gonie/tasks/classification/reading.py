"""The output of a classifier for one text, before it becomes a label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Reading(NamedTuple):
    """The scores of a text, and its attention weights."""

    scores: NDArray[np.float32]
    """(K,), one score per label, before the temperature; for a sigmoid model, (0, z)."""
    words: tuple[NDArray[np.float32], ...]
    """For each sentence (tokens,): the weight of each token in the sentence's vector, with sum 1."""
    sentences: NDArray[np.float32]
    """(S,): the weight of each sentence in the text's vector, with sum 1; [1.0] for a one-level model."""
