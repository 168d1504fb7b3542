"""What an engine is: whoever sees to it that every shard meets a worker. It chooses who, never what."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from gonie.bulk.shards import Shard
from gonie.bulk.worker import Done, Order


class BulkEngine(Protocol):
    """Runs workers over shards."""

    def __call__(self, order: Order, shards: Sequence[Shard]) -> Generator[Done, None, None]:
        """What became of each shard, as it is done; never more shards at work than there are workers."""
