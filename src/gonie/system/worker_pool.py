"""A pool of worker processes, each with its own pipes for items and results.

    with worker_pool(4, start, settings) as pool:
        for result in pool.map(items):
            ...

``start(tell, settings)`` runs once in each process and returns the function that turns an item into a result.
``tell`` sends other values, such as progress, to the process that owns the pool. Processes share only their
pipes, so a process that dies leaves no lock behind. All processes end with the block, and also when the
owner of the pool is killed. No file is still being written afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from gonie.errors import GonieError

AHEAD = 4
"""Maximum number of items per process that are taken before their results are yielded."""

POLL = 0.2
"""Seconds between checks for a request to stop while no process sends anything."""

Tell = Callable[[Any], None]
Start = Callable[..., Callable[[Any], Any]]
"""Called as ``start(tell, *arguments)`` in a new process. Returns the function that works on items."""


class WorkerEvent(NamedTuple):
    """A value that a process sent with ``tell`` while it worked on an item."""

    value: Any


class WorkerResult(NamedTuple):
    """The result of an item."""

    value: Any


class WorkerRefused(NamedTuple):
    """An error that the user can fix, as its message."""

    reason: str


class WorkerCrashed(NamedTuple):
    """An unexpected error in a process, as its traceback."""

    trace: str


class WorkerLostError(GonieError):
    """A process ended while it worked on ``item``."""

    def __init__(self, item: Any, ended: str, advice: str) -> None:
        super().__init__(f"a worker process ended {ended}. It may have run out of memory. {advice}")
        self.item = item


@dataclass(frozen=True, eq=False)
class Worker:
    """A process and this side's ends of its pipes: one sends items, the other receives answers."""

    process: SpawnProcess
    items: Connection
    answers: Connection

    def ended(self) -> str:
        """Return how a process that is no longer running ended, in words."""
        self.process.join()
        code = self.process.exitcode or 0
        return f"by signal {-code}" if code < 0 else f"with status {code}"

    def drain(self) -> None:
        """Read and discard answers until the process ends."""
        with suppress(EOFError, OSError):
            while True:
                self.answers.recv()


class WorkerPool:
    """Processes that wait for items. ``advice`` tells the user what to do if one of them dies."""

    def __init__(self, workers: Sequence[Worker], *, advice: str) -> None:
        self.workers = tuple(workers)
        self._advice = advice
        self._busy: dict[Worker, tuple[int, Any]] = {}  # the number and the item of each busy worker

    def map(
        self,
        items: Iterable[Any],
        *,
        ordered: bool = False,
        tell: Tell | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[Any]:
        """Yield the result of each item: as it arrives, or in the order of the items if ``ordered``.

        An item is taken only when a process is free, and at most ``AHEAD`` per process before their results
        are consumed. ``tell`` is called with the values that the processes send. Once ``stop`` returns true,
        the processes receive SIGTERM. They may finish the current item, and no more items are handed out.
        """
        if self._busy:
            raise RuntimeError("an earlier map of this pool was not finished")
        waiting = enumerate(items)
        done: dict[int, Any] = {}
        turn, stopping = 0, False
        while True:
            if stop is not None and not stopping and stop():
                stopping = True
                self._terminate()
            if not stopping:
                self._hand_out(waiting, room=len(self.workers) * AHEAD - len(self._busy) - len(done))
            first = turn if ordered else next(iter(done), turn)
            if first in done:
                yield done.pop(first)
                turn += 1
            elif self._busy:
                done |= self._listen(tell, timeout=None if stop is None else POLL, stopping=stopping)
            else:
                return

    def _hand_out(self, waiting: Iterator[tuple[int, Any]], *, room: int) -> None:
        """Give each free process an item.

        A busy process gets no second item. If both sides wrote at once without reading, they would deadlock.
        """
        free = [worker for worker in self.workers if worker not in self._busy]
        for worker, (number, item) in zip(free, islice(waiting, min(len(free), room)), strict=False):
            with suppress(OSError):  # the process has ended; its last answer says why
                worker.items.send(item)
            self._busy[worker] = number, item

    def _listen(self, tell: Tell | None, *, timeout: float | None, stopping: bool) -> dict[int, Any]:
        """Wait for answers and return the results among them, by item number."""
        ready = wait([worker.answers for worker in self._busy], timeout)
        done: dict[int, Any] = {}
        for worker in [worker for worker in self._busy if worker.answers in ready]:
            number, item = self._busy[worker]
            try:
                said = worker.answers.recv()
            except (EOFError, OSError):
                del self._busy[worker]
                if stopping:
                    continue
                raise WorkerLostError(item, worker.ended(), self._advice) from None
            match said:
                case WorkerEvent(value):
                    if tell is not None:
                        tell(value)
                case WorkerResult(value):
                    del self._busy[worker]
                    done[number] = value
                case WorkerRefused(reason):
                    raise GonieError(reason)
                case WorkerCrashed(trace):
                    raise RuntimeError(f"an error in a worker process:\n{trace}")
        return done

    def _terminate(self) -> None:
        for worker in self.workers:
            worker.process.terminate()


@contextmanager
def worker_pool(number: int, start: Start, *arguments: Any, advice: str = "") -> Iterator[WorkerPool]:
    """Start ``number`` processes, each of which runs ``start(tell, *arguments)`` and then works on items.

    The block's end waits until all processes have ended. On an error they receive SIGTERM first. They ignore
    Ctrl-C, which reaches every process of a terminal, and leave it to the owner of the pool.
    """
    workers: list[Worker] = []
    try:
        for _ in range(number):
            workers.append(_begin(start, arguments))
        yield WorkerPool(workers, advice=advice)
        for worker in workers:
            worker.items.close()
            worker.answers.close()
    except BaseException:
        for worker in workers:
            worker.process.terminate()
            worker.items.close()
        for worker in workers:
            worker.drain()  # it may still save something and send values before that
        raise
    finally:
        for worker in workers:
            worker.process.join()


def _begin(start: Start, arguments: tuple[Any, ...]) -> Worker:
    context = multiprocessing.get_context("spawn")
    their_items, our_items = context.Pipe(duplex=False)
    our_answers, their_answers = context.Pipe(duplex=False)
    process = context.Process(
        target=_serve_with_parent, args=(start, their_items, their_answers, *arguments), daemon=True
    )
    with _delaying_interrupt():
        process.start()
    their_items.close()
    their_answers.close()
    return Worker(process, our_items, our_answers)


def serve(start: Start, items: Connection, answers: Connection, *arguments: Any) -> None:
    """Run a worker process: start, then answer each item until the other end of the pipes is closed."""
    try:
        work = start(lambda event: answers.send(WorkerEvent(event)), *arguments)
        while True:
            answers.send(WorkerResult(work(items.recv())))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
    except (GonieError, OSError) as error:
        answers.send(WorkerRefused(str(error)))
    except Exception:  # raised again, with its trace, by the process that owns the pool
        answers.send(WorkerCrashed(traceback.format_exc()))


def _serve_with_parent(start: Start, items: Connection, answers: Connection, *arguments: Any) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serve(start, items, answers, *arguments)


@contextmanager
def _delaying_interrupt() -> Iterator[None]:
    """Deliver Ctrl-C only after the block. Processes started in it never receive it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # when multiprocessing starts it later, it unblocks the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # immediately: files are written atomically, so none is left incomplete
