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


class StateLearner(Learner, Protocol):
    """A model whose loss is that of a head over states. Loss terms read the states too."""

    def states(self, batch: Any) -> Tensor:
        """Return the states that the heads read: (B, T, H) of a tagger, (N, P) of a text model."""
        ...

    def loss_of(self, states: Tensor, batch: Any) -> Tensor:
        """Return the mean loss of a batch, given its states. Shape: ()."""
        ...
