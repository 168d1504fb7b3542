"""The interface of a model for training: its parameters and its loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from torch import Tensor
from torch.nn import Parameter


class Learner(Protocol):
    """A torch module with a loss."""

    def parameters(self) -> Iterator[Parameter]:
        """Return all parameters."""
        ...

    def loss(self, batch: Any) -> Tensor:
        """Return the mean loss of a batch (``StepBatch.content``). Shape: ()."""
        ...
