"""Access to the word vectors of a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.nn.embeddings.words import WordEmbedding
from gonie.tasks.tagging.torch.network import TaggingNetwork


def word_table(model: TaggingNetwork) -> NDArray[np.float32]:
    """Return a copy of the vectors of all words by word id. Shape: (V, D)."""
    found = next((part for part in model.modules() if isinstance(part, WordEmbedding)), None)
    if found is None:
        raise InputError(
            "expected a model with word vectors, got one without",
            fix="Train one with model.words in its recipe",
        )
    return np.array(found.table().detach().cpu().numpy(), dtype=np.float32)
