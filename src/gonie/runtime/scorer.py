"""The seam between the one prediction path and what runs the network: ONNX Runtime, or torch in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Batch = Mapping[str, NDArray[Any]]


class Scorer(Protocol):
    """Anything that scores every tag at every token of a batch."""

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Emission scores of a batch (the names and shapes are in ``gonie.data.batching``): (B, T, K)."""
