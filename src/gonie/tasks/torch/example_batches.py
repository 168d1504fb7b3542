"""Batches of encoded examples: an epoch has every example once, in an order that the seed decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from gonie.features.batching import shuffled_batches
from gonie.features.corpus import Examples
from gonie.nn.inference import to_tensors
from gonie.tasks.sections import TrainConfig
from gonie.tasks.torch.training_setup import StepBatch

CutBatches = Callable[..., list[NDArray[np.int64]]]
"""Cuts an epoch: lengths, most cells and most examples to batches of rows (``features.batching``)."""


class ExampleBatches:
    """The examples of a corpus in batches, on ``device``; ``cut`` says which examples share one."""

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
        self._epoch = -1  # whose rows are kept
        self._rows: list[NDArray[np.int64]] = []

    def size(self, epoch: int) -> int:
        """How many batches an epoch has."""
        return len(self._epoch_rows(epoch))

    def weight(self, epoch: int) -> int:
        """How many examples an epoch has: all of them."""
        return len(self._examples)

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """The batches of an epoch, from number ``first`` on."""
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


def batch_size(config: TrainConfig, examples: int) -> int:
    """How many examples a batch holds at most: few if there are few, so that an epoch has enough steps."""
    if config.batch_sentences == "auto":
        return min(max(examples // 100, 4), 32)
    return config.batch_sentences
