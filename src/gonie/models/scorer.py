"""The torch scorer: a model behind the same door as an exported bundle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gonie.models.evaluating import evaluating
from gonie.models.tagger import TAGS, Tagger


def to_tensors(batch: Mapping[str, NDArray[Any]], device: torch.device) -> dict[str, Tensor]:
    """The same batch as tensors on ``device``; the copy to a GPU does not wait for it."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
    if device.type == "cpu":
        return tensors
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}


class TorchScorer:
    """Scores batches with a model in evaluation mode, wherever the model lies."""

    def __init__(self, model: Tagger, head: str = TAGS) -> None:
        self._model = model
        self._head = head

    def scores(self, batch: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Scores (B, T, K) of a numpy batch."""
        device = next(self._model.parameters()).device
        with evaluating(self._model), torch.inference_mode():
            scores = self._model(to_tensors(batch, device), self._head)
        result: NDArray[np.float32] = scores.float().cpu().numpy()
        return result
