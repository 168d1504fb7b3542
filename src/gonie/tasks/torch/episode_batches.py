"""Batches for episodic training: each is a few-shot task drawn from the training examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features.corpus import Examples
from gonie.features.episodes import EpisodeSampler
from gonie.features.shots import Mentions
from gonie.nn.heads.support import SUPPORT
from gonie.nn.inference import to_tensors
from gonie.tasks.sections import EpisodesConfig, TrainConfig
from gonie.tasks.torch.training_setup import StepBatch


@dataclass(frozen=True)
class EpisodePool:
    """The types of training examples, from which episodes are drawn."""

    mentions: Mentions
    """The number of mentions of each type in each example."""
    array: str
    """The name of the array of gold ids in a batch."""
    types: Sequence[str | None]
    """The type of each id; None for O."""
    outside: int
    """The id of O, which takes the place of types that are not in an episode; -1: they are left out."""


class EpisodeBatches:
    """Episodes of ``examples`` as batches on ``device``.

    Each batch has support and query examples, told apart by the array ``support``. An episode depends only on
    the seed, its epoch and its number.
    """

    def __init__(
        self, examples: Examples, pool: EpisodePool, config: TrainConfig, device: torch.device
    ) -> None:
        self._examples = examples
        self._pool = pool
        self._episodes = config.episodes or EpisodesConfig()
        self._seed = config.seed
        self._device = device
        self._sampler = EpisodeSampler(pool.mentions, shots=self._episodes.shots)
        if (len(self._sampler.types) < 2 and pool.outside < 0) or not self._sampler.types:
            shots = config.shots
            more = f", or raise train.shots = {shots}, which limits the examples" if shots else ""
            raise InputError(
                f"too few types with more than train.episodes.shots = {self._episodes.shots} examples: "
                f"{len(self._sampler.types)}",
                fix=f"Set train.episodes.shots to a lower number{more}",
            )

    def size(self, epoch: int) -> int:
        """Return the number of episodes of an epoch."""
        return self._episodes.number

    def weight(self, epoch: int) -> int:
        """Return the number of episodes, which weigh the same."""
        return self._episodes.number

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the episodes of an epoch, from number ``first`` on."""
        for number in range(first, self._episodes.number):
            yield self._batch(np.random.default_rng([self._seed, epoch, number]))

    def _batch(self, generator: np.random.Generator) -> StepBatch:
        config, pool = self._episodes, self._pool
        episode = self._sampler.sample(ways=config.ways, queries=config.queries, generator=generator)
        rows = np.array([*episode.support, *episode.query], dtype=np.int64)
        content = self._examples.batch(rows)
        content[SUPPORT] = np.arange(len(rows)) < len(episode.support)
        content[pool.array] = self._renamed(content[pool.array], episode.types)
        return StepBatch(to_tensors(content, self._device), int(self._examples.sizes[rows].sum()), 1)

    def _renamed(self, ids: NDArray[np.integer], types: Sequence[str]) -> NDArray[np.int64]:
        """Return the gold ids with those of other types replaced by O. -1 stays."""
        pool = self._pool
        kept = [
            number if name is None or name in types else pool.outside
            for number, name in enumerate(pool.types)
        ]
        renamed: NDArray[np.int64] = np.array([*kept, -1], dtype=np.int64)[ids]
        return renamed
