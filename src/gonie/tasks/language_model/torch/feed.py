"""Batches of running text on the device, prepared while the previous one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gonie.features.lm_text import Streams, TextRows, distinct
from gonie.tasks.language_model.torch.data import RunningText
from gonie.tasks.language_model.torch.network import TextStretch
from gonie.tasks.language_model.torch.stateful import LanguageBatch
from gonie.tasks.torch.training_setup import StepBatch

AHEAD = 3
"""Number of batches prepared in advance."""


class BatchIds(NamedTuple):
    """A batch of word ids before it is on the device: its distinct words (U,), and the rows per direction."""

    forms: NDArray[np.int64]
    ahead: tuple[NDArray[Any], ...]
    back: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, batch: TextRows, targets: NDArray[np.int64]) -> BatchIds:
        """Convert words to indices of the distinct words, and targets to indices of the softmax."""
        forms, places = distinct(batch)
        return cls(
            forms.astype(np.int64),
            (places[0], targets[batch.ahead_targets], batch.ahead_counts),
            (places[1], targets[batch.back_targets], batch.back_counts),
        )


class Feed:
    """The batches of a text. An epoch can start at any batch.

    The bytes of all words are on the device, and a batch transfers only word ids. All batches have the same
    number of words, and the same weight in the mean loss of an epoch.
    """

    def __init__(self, text: RunningText, streams: Streams, device: torch.device) -> None:
        self._targets = text.targets
        self._streams = streams
        self._spelled = torch.from_numpy(text.spelled).to(device)  # (U, C)

    def size(self, epoch: int) -> int:
        """Return the number of batches of an epoch."""
        return self._streams.batches(epoch)

    def weight(self, epoch: int) -> int:
        """Return the sum of the weights of an epoch's batches, 1 each."""
        return self.size(epoch)

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the batches of ``epoch`` from number ``first`` on."""
        numbers = iter(range(first, self.size(epoch)))
        worker = ThreadPoolExecutor(1)
        try:
            waiting = deque(worker.submit(self._batch_ids, epoch, i) for i in islice(numbers, AHEAD))
            while waiting:
                ready = waiting.popleft().result()
                waiting.extend(self._further(worker, epoch, numbers))
                batch = to_device(ready, self._spelled)
                yield StepBatch(batch, tokens=batch.ahead.inputs.numel(), weight=1)
        finally:
            worker.shutdown(cancel_futures=True)

    def _further(
        self, worker: ThreadPoolExecutor, epoch: int, numbers: Iterator[int]
    ) -> list[Future[BatchIds]]:
        return [worker.submit(self._batch_ids, epoch, number) for number in islice(numbers, 1)]

    def _batch_ids(self, epoch: int, number: int) -> BatchIds:
        return BatchIds.of(self._streams.batch(epoch, number), self._targets)


def to_device(numbers: BatchIds, spelled: Tensor) -> LanguageBatch:
    """Return the batch on the device of ``spelled`` (U, C), the bytes of all words of the text."""
    device = spelled.device
    chars = spelled[_to_device(numbers.forms, device)].long()  # (U', C)
    ahead, back = (
        TextStretch(*(_to_device(array, device) for array in way)) for way in (numbers.ahead, numbers.back)
    )
    return LanguageBatch(chars, ahead, back)


def _to_device(array: NDArray[Any], device: torch.device) -> Tensor:
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.type == "cpu":
        return tensor
    return tensor.pin_memory().to(device, non_blocking=True)
