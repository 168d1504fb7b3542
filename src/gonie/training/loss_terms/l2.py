"""The penalty on large weights that ``train.l2`` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor


class MatrixL2:
    """λ/2m ‖W‖² over the matrices of encoder and head, where m is the number of training examples.

    The loss of a batch is a mean over its examples, so an example's share of λ/2 ‖W‖² is added.
    """

    def __init__(self, *, strength: float, examples: int) -> None:
        self._factor = strength / (2 * examples)

    def __call__(self, model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        """The penalty. Shape: ()."""
        penalty: Tensor = self._factor * model.squares()
        return penalty
