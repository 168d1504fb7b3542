"""The torch scorers: a network with the interface of an exported bundle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gonie.nn.inference import inferring, to_tensors
from gonie.runtime.scorer import ScoredTexts
from gonie.tasks.classification.torch.network import LABEL, TextNetwork
from gonie.tasks.tagging.torch.network import TAGS, TaggingNetwork


class TorchScorer:
    """Scores batches with a network in evaluation mode, on its device."""

    at_once = 1

    def __init__(self, model: TaggingNetwork, head: str = TAGS) -> None:
        self._model = model
        self._head = head

    def scores(self, batch: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the scores (B, T, K) of a numpy batch."""
        with inferring(self._model) as device:
            return _to_numpy(self._model(to_tensors(batch, device), self._head))


class TorchTextScorer:
    """Scores batches of texts with a network in evaluation mode, on its device."""

    at_once = 1

    def __init__(self, model: TextNetwork, head: str = LABEL) -> None:
        self._model = model
        self._head = head

    def score_texts(self, batch: Mapping[str, NDArray[Any]]) -> ScoredTexts:
        """Return the scores (N, K) of a numpy batch, and the weights of tokens and sentences."""
        model = self._model
        with inferring(model) as device:
            tensors = to_tensors(batch, device)
            pooled = model.pool(model.embed(tensors), tensors)
            scores = model.score(pooled.vectors, tensors, self._head)
            return ScoredTexts(*map(_to_numpy, (scores, pooled.words, pooled.sentences)))


def _to_numpy(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array
