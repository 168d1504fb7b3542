"""Penalties of parts of a network, such as L2 regularisation of ELMo's layer weights towards their mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from gonie.nn.protocols import ContextualEmbedding
from gonie.tasks.torch.build import contextual_parts


class PartPenalties:
    """Σ penalty() over the contextual embeddings of a model, 0 if there are none.

    The embeddings of a model are searched once, because the search takes longer than the penalties.
    """

    def __init__(self) -> None:
        self._model: Any = None
        self._parts: list[ContextualEmbedding] = []

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor | float:
        """Return the sum of the penalties. Shape: ()."""
        if model is not self._model:
            self._model, self._parts = model, contextual_parts(model)
        return sum((part.penalty() for part in self._parts), start=0.0)
