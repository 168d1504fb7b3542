"""What training asks of a model, whatever it learns: its parameters, its loss, the size of its matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from torch import Tensor
from torch.nn import Parameter


class Learner(Protocol):
    """The role; a torch module plays it by having these."""

    def parameters(self) -> Iterator[Parameter]:
        """All there is to learn."""
        ...

    def train(self, mode: bool = True) -> object:
        """Be in training, or not."""
        ...

    def loss(self, batch: Mapping[str, Tensor]) -> Tensor:
        """What is to be made small: the mean over the batch's examples. Shape: ()."""
        ...

    def squares(self) -> Tensor:
        """‖W‖² of its matrices, which a penalty keeps small. Shape: ()."""
        ...
