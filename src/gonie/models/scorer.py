"""The torch scorers: a model behind the same door as an exported bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.models.classifier import LABEL, Classifier
from gonie.models.evaluating import evaluating
from gonie.models.tagger import TAGS, Tagger
from gonie.runtime.scorer import ScoredTexts


def to_tensors(batch: Mapping[str, NDArray[Any]], device: torch.device) -> dict[str, Tensor]:
    """The same batch as tensors on ``device``; the copy to a GPU does not wait for it."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
    if device.type == "cpu":
        return tensors
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}


@contextmanager
def inferring(model: nn.Module) -> Iterator[torch.device]:
    """The model without dropout and gradients, afterwards as it was; gives the device it lies on."""
    with evaluating(model), torch.inference_mode():
        yield next(model.parameters()).device


class TorchScorer:
    """Scores batches with a model in evaluation mode, wherever the model lies."""

    at_once = 1

    def __init__(self, model: Tagger, head: str = TAGS) -> None:
        self._model = model
        self._head = head

    def scores(self, batch: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Scores (B, T, K) of a numpy batch."""
        with inferring(self._model) as device:
            return _to_numpy(self._model(to_tensors(batch, device), self._head))


class TorchTextScorer:
    """Scores batches of texts with a classifier in evaluation mode, wherever it lies."""

    at_once = 1

    def __init__(self, model: Classifier, head: str = LABEL) -> None:
        self._model = model
        self._head = head

    def score_texts(self, batch: Mapping[str, NDArray[Any]]) -> ScoredTexts:
        """Scores (N, K) of a numpy batch, and the shares of tokens (B, T) and sentences (N, S)."""
        model = self._model
        with inferring(model) as device:
            tensors = to_tensors(batch, device)
            pooled = model.pool(model.embed(tensors), tensors)
            scores = model.score(pooled.vectors, tensors, self._head)
            return ScoredTexts(*map(_to_numpy, (scores, pooled.words, pooled.sentences)))


def _to_numpy(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array
