"""The Ray engine: the same workers as actors of a Ray Data pipeline, on this machine or on a cluster.

Ray hands the shards out, restarts a worker that died and keeps as few shards in flight as there are workers.
Parts are written by the workers, under their own names: on a cluster the model, the input and the output
must be in folders that every machine sees under the same name.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from gonie.bulk.pieces import Piece
from gonie.bulk.shards import Shard
from gonie.bulk.worker import Done, Order, Worker
from gonie.errors import GonieError, InputError, MissingExtraError

SHARD, DONE, REFUSED = "shard", "done", "refused"
BLOCKS = 2000
"""Most blocks that shards are put in: Ray keeps a note of each."""


class RayEngine:
    """``workers`` actors; 0 is one for each processor of the cluster at ``address``."""

    def __init__(self, *, workers: int, address: str | None = None) -> None:
        self._ray = _ray()
        self._workers = workers
        self._address = address

    def __call__(self, order: Order, shards: Sequence[Shard]) -> Generator[Done, None, None]:
        """What became of each shard, as it is done."""
        if not shards:
            return
        with self._connected():
            rows = [{SHARD: [shard.number, *shard.pieces]} for shard in shards]
            wanted = min(self._workers or self._processors(), len(shards))
            table = self._ray.data.from_items(rows, override_num_blocks=min(len(rows), BLOCKS))
            done = table.map_batches(
                Actor,
                fn_constructor_args=(order,),
                batch_size=1,
                batch_format="numpy",
                concurrency=wanted,
            )
            for row in done.iter_rows():
                if row[REFUSED]:
                    raise GonieError(row[REFUSED])
                yield Done(*map(int, row[DONE]))
