"""The local engine: a process for each worker, on the cores of this machine."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from gonie.bulk.pieces import Shard
from gonie.bulk.worker import Done, Order, ShardWorker
from gonie.system.worker_pool import Tell, worker_pool

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ADVICE = "Finished parts are kept: run the same command again, with fewer --workers."


class LocalEngine:
    """``workers`` processes, each of one thread; a shard is handed out only to one that is free."""

    def __init__(self, *, workers: int) -> None:
        self.workers = workers

    def __call__(self, order: Order, shards: Sequence[Shard]) -> Generator[Done, None, None]:
        """What became of each shard, as it is done."""
        if not shards:
            return
        number = min(self.workers, len(shards))
        with _one_thread(), worker_pool(number, start_worker, order, advice=ADVICE) as pool:
            yield from pool.map(shards)


def start_worker(tell: Tell, order: Order) -> ShardWorker:
    """What a process does: load the model, then write the part of each shard that comes."""
    return ShardWorker(order)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Within the block, processes start with the libraries of linear algebra set to one thread."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
