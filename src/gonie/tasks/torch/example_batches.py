"""Batches of encoded examples. An epoch has every example once, in an order fixed by the seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from gonie.features.batching import shuffled_batches
from gonie.features.corpus import Examples
from gonie.nn.inference import to_tensors
from gonie.tasks.sections import TrainConfig
from gonie.tasks.torch.training_setup import Batches, StepBatch

CutBatches = Callable[..., list[NDArray[np.int64]]]
"""Divides an epoch into batches of rows, given lengths and maximum sizes (``features.batching``)."""


class ExampleBatches:
    """The examples of a corpus in batches on ``device``. ``cut`` divides an epoch into batches."""

    def __init__(
        self,
        examples: Examples,
        config: TrainConfig,
        device: torch.device,
        *,
        cut: CutBatches = shuffled_batches,
    ) -> None:
        self._examples = examples
        self._config = config
        self._device = device
        self._cut = cut
        self._epoch = -1  # the epoch of ``_rows``
        self._rows: list[NDArray[np.int64]] = []

    def size(self, epoch: int) -> int:
        """Return the number of batches of an epoch."""
        return len(self._epoch_rows(epoch))

    def weight(self, epoch: int) -> int:
        """Return the number of examples of an epoch, which has all of them."""
        return len(self._examples)

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the batches of an epoch, from number ``first`` on."""
        for rows in self._epoch_rows(epoch)[first:]:
            content = to_tensors(self._examples.batch(rows), self._device)
            yield StepBatch(content, int(self._examples.sizes[rows].sum()), len(rows))

    def _epoch_rows(self, epoch: int) -> list[NDArray[np.int64]]:
        if epoch != self._epoch:
            self._rows = self._cut(
                self._examples.lengths,
                heights=self._examples.heights,
                tokens=self._config.batch_tokens,
                sentences=batch_size(self._config, len(self._examples)),
                generator=np.random.default_rng([self._config.seed, epoch]),
            )
            self._epoch = epoch
        return self._rows


class RepeatedBatches:
    """Several passes over the examples, each in another order, as one epoch."""

    def __init__(self, batches: Batches, passes: int) -> None:
        self._batches = batches
        self._passes = passes

    def size(self, epoch: int) -> int:
        """Return the number of batches of an epoch."""
        return sum(map(self._batches.size, self._numbers(epoch)))

    def weight(self, epoch: int) -> int:
        """Return the number of examples of an epoch, each counted as often as it is trained on."""
        return sum(map(self._batches.weight, self._numbers(epoch)))

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the batches of an epoch, from number ``first`` on."""
        for number in self._numbers(epoch):
            size = self._batches.size(number)
            if first < size:
                yield from self._batches.batches(number, first)
            first = max(0, first - size)

    def _numbers(self, epoch: int) -> range:
        """Return the numbers of the passes of an epoch."""
        return range(epoch * self._passes, (epoch + 1) * self._passes)


def batch_size(config: TrainConfig, examples: int) -> int:
    """Return the maximum examples per batch. With ``auto``, small data has small batches, for more steps."""
    if config.batch_sentences == "auto":
        return min(max(examples // 100, 4), 32)
    return config.batch_sentences
