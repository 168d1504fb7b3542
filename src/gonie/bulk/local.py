"""The local engine: a process for each worker, on the cores of this machine."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait

from gonie.bulk.shards import Shard
from gonie.bulk.worker import Done, Order, ShardWorker
from gonie.errors import GonieError
from gonie.system.worker_pool import Hired, hired

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LocalEngine:
    """``workers`` processes, each of one thread; a shard is handed out only to one that is free."""

    def __init__(self, *, workers: int) -> None:
        self.workers = workers

    def __call__(self, order: Order, shards: Sequence[Shard]) -> Generator[Done, None, None]:
        """What became of each shard, as it is done."""
        if not shards:
            return
        left = iter(shards)
        with _one_thread(), hired(min(self.workers, len(shards)), work, order) as crew:
            busy: dict[Connection, Hired] = {}
            for worker in crew:
                _hand(worker, left, busy)
            while busy:
                ready = wait(list(busy))
                for worker in [worker for pipe, worker in busy.items() if pipe in ready]:
                    del busy[worker.pipe]
                    yield _answer(worker)
                    _hand(worker, left, busy)


def _hand(worker: Hired, left: Iterator[Shard], busy: dict[Connection, Hired]) -> None:
    """Give a worker the next shard, if there is one."""
    for shard in left:
        with suppress(OSError):  # it is gone: its last answer says why
            worker.pipe.send(shard)
        busy[worker.pipe] = worker
        return


def _answer(worker: Hired) -> Done:
    try:
        done: Done = worker.answer()
    except (EOFError, OSError):
        raise GonieError(
            f"expected a part, but the process that was writing it ended {worker.ended()}; perhaps the "
            "memory was used up. Finished parts are kept: do the same again, with fewer --workers"
        ) from None
    return done


def work(pipe: Connection, order: Order) -> None:
    """What a process does: load the model, then write the part of each shard that comes, until none comes."""
    worker = ShardWorker(order)
    while True:
        pipe.send(worker(pipe.recv()))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Within the block, processes begin with the libraries of linear algebra set to one thread."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
