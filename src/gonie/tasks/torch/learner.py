"""What training asks of a model, whatever it learns: its parameters and its loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from torch import Tensor
from torch.nn import Parameter


class Learner(Protocol):
    """The role; a torch module plays it by having these."""

    def parameters(self) -> Iterator[Parameter]:
        """All there is to learn."""
        ...

    def loss(self, batch: Any) -> Tensor:
        """What is to be made small: the mean over a batch, as ``StepBatch.content`` has it. Shape: ()."""
        ...
