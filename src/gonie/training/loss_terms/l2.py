"""L2 regularisation (``train.l2``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor


class MatrixL2:
    """λ/2m ‖W‖² over the matrices of encoder and head, where m is the number of training examples.

    The loss of a batch is a mean over its examples, so the share of one example in λ/2 ‖W‖² is added.
    """

    def __init__(self, *, strength: float, examples: int) -> None:
        self._factor = strength / (2 * examples)

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the penalty. Shape: ()."""
        penalty: Tensor = self._factor * model.squares()
        return penalty
