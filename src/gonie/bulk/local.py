"""The local engine: worker processes on the cores of this machine."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from gonie.bulk.pieces import Shard
from gonie.bulk.worker import ShardResult, ShardWorker, WorkOrder
from gonie.system.worker_pool import Tell, worker_pool

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ADVICE = "Finished parts are kept. Run the same command again with fewer --workers to resume."


class LocalEngine:
    """Runs ``workers`` processes with one thread each."""

    def __init__(self, *, workers: int) -> None:
        self.workers = workers

    def __call__(self, order: WorkOrder, shards: Sequence[Shard]) -> Generator[ShardResult, None, None]:
        """Yield the result of each shard when it is done."""
        if not shards:
            return
        number = min(self.workers, len(shards))
        with _one_thread(), worker_pool(number, start_worker, order, advice=ADVICE) as pool:
            yield from pool.map(shards)


def start_worker(tell: Tell, order: WorkOrder) -> ShardWorker:
    """Load the model in a worker process, and return the function that writes parts."""
    return ShardWorker(order)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit linear algebra libraries of new processes to one thread during the block."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
