"""The worker pool: processes that take items and give back results, each through pipes of its own.

    with worker_pool(4, start, settings) as pool:
        for result in pool.map(items):
            ...

``start(tell, settings)`` runs once in each process. It returns the function that turns an item into a result;
``tell`` sends anything else to the process that owns the pool. Processes share nothing but their pipes, so
one that dies takes no lock with it. None outlives the block, nor the process that owns the pool, however that
ends: whoever comes after finds no file still being written.
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
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from gonie.errors import GonieError

AHEAD = 4
"""Items for each process that may be taken before the turn of their results comes."""

POLL = 0.2
"""Seconds until a request to stop is noticed while no process sends anything."""

Tell = Callable[[Any], None]
Start = Callable[..., Callable[[Any], Any]]
"""Called as ``start(tell, *arguments)`` in a new process; gives the function that works on items."""


class WorkerEvent(NamedTuple):
    """What a process told while it worked on an item."""

    value: Any


class WorkerResult(NamedTuple):
    """What a process made of an item."""

    value: Any


class WorkerRefused(NamedTuple):
    """Why a process cannot go on, for a reason that the user can do something about."""

    reason: str


class WorkerCrashed(NamedTuple):
    """The trace of an error in a process that is none of the user's."""

    trace: str


class WorkerLostError(GonieError):
    """A process ended while it worked on ``item``."""

    def __init__(self, item: Any, ended: str, advice: str) -> None:
        super().__init__(f"a worker process ended {ended}; perhaps it ran out of memory. {advice}")
        self.item = item


@dataclass(frozen=True, eq=False)
class Worker:
    """A process, and the ends of its pipes that are here: one for items, one for what it answers."""

    process: SpawnProcess
    items: Connection
    answers: Connection

    def ended(self) -> str:
        """How a process that is gone has ended, in words."""
        self.process.join()
        code = self.process.exitcode or 0
        return f"by signal {-code}" if code < 0 else f"with status {code}"

    def drain(self) -> None:
        """Read what the process still has to say, until it is gone."""
        with suppress(EOFError, OSError):
            while True:
                self.answers.recv()


class WorkerPool:
    """Processes that wait for items. ``advice`` is what the user can do when one of them dies."""

    def __init__(self, workers: Sequence[Worker], *, advice: str) -> None:
        self.workers = tuple(workers)
        self._advice = advice
        self._busy: dict[Worker, tuple[int, Any]] = {}  # the number and the item that each works on

    def map(
        self,
        items: Iterable[Any],
        *,
        ordered: bool = False,
        tell: Tell | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[Any]:
        """The result of each item: as they come, or in the order of the items if ``ordered``.

        An item is taken only when a process is free for it, and at most ``AHEAD`` for each process are taken
        before their results are asked for. ``tell`` gets what the processes tell. Once ``stop`` is true the
        processes are asked to end (SIGTERM): they may finish the item at hand, and no more are handed out.
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

        One that works is given no further item: two processes that both write and do not read would wait for
        each other for ever.
        """
        free = [worker for worker in self.workers if worker not in self._busy]
        for worker, (number, item) in zip(free, islice(waiting, min(len(free), room)), strict=False):
            with suppress(OSError):  # it is gone: its last answer says why
                worker.items.send(item)
            self._busy[worker] = number, item

    def _listen(self, tell: Tell | None, *, timeout: float | None, stopping: bool) -> dict[int, Any]:
        """The results that have come, by number, after waiting for some."""
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
    """``number`` processes, each of which runs ``start(tell, *arguments)`` and then works on items.

    When the block ends, so have they; at an error they are asked to end at once (SIGTERM). They ignore
    Ctrl-C, which reaches every process of a terminal: the process that owns the pool ends them.
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
            worker.drain()  # it may have something to save, and to tell before that
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
    with _ignoring_interrupt():
        process.start()
    their_items.close()
    their_answers.close()
    return Worker(process, our_items, our_answers)


def serve(start: Start, items: Connection, answers: Connection, *arguments: Any) -> None:
    """What a worker process does: start, then answer each item, until nobody is at the other end."""
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
def _ignoring_interrupt() -> Iterator[None]:
    """Within the block Ctrl-C is ignored, and so it is in processes started there, even while they load."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # at once, in whatever it is: files are whole or not there
