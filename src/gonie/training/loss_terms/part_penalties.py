"""Penalties that parts of a network ask for, such as the pull of ELMo's layer weights to their mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from gonie.tasks.torch.build import contextual_parts


class PartPenalties:
    """Σ penalty() over the contextual embeddings of a model; 0 where there are none."""

    def __call__(self, model: Any, batch: Mapping[str, Tensor]) -> Tensor | float:
        """The sum of the penalties. Shape: ()."""
        return sum((part.penalty() for part in contextual_parts(model)), start=0.0)
