"""The torch scorers: a network with the interface of an exported bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.nn.inference import inferring, to_tensors
from gonie.runtime.scorer import ScoredTexts
from gonie.tasks.classification.torch.network import LABEL, TextNetwork
from gonie.tasks.tagging.torch.network import TAGS, TaggingNetwork

Running = Callable[[nn.Module], AbstractContextManager[torch.device]]
"""Sets the mode of a network within a block, and yields its device."""


class TorchScorer:
    """Scores batches with a network on its device. ``running`` is its mode: by default evaluation."""

    at_once = 1

    def __init__(self, model: TaggingNetwork, head: str = TAGS, *, running: Running = inferring) -> None:
        self._model = model
        self._head = head
        self._running = running

    def scores(self, batch: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the scores (B, T, K) of a numpy batch."""
        with self._running(self._model) as device:
            return _to_numpy(self._model(to_tensors(batch, device), self._head))


class TorchTextScorer:
    """Scores batches of texts with a network on its device. ``running`` is as for ``TorchScorer``."""

    at_once = 1

    def __init__(self, model: TextNetwork, head: str = LABEL, *, running: Running = inferring) -> None:
        self._model = model
        self._head = head
        self._running = running

    def score_texts(self, batch: Mapping[str, NDArray[Any]]) -> ScoredTexts:
        """Return the scores (N, K) of a numpy batch, and the weights of tokens and sentences."""
        model = self._model
        with self._running(model) as device:
            tensors = to_tensors(batch, device)
            pooled = model.pool(model.embed(tensors), tensors)
            scores = model.score(pooled.vectors, tensors, self._head)
            return ScoredTexts(*map(_to_numpy, (scores, pooled.words, pooled.sentences)))


def _to_numpy(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array
