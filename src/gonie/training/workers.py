"""Cells side by side: a few processes, each of which trains one after another.

Every worker has a pipe of its own to this process, and nothing else is shared: one that dies takes no lock
with it. A worker ends with this process, however that ends, so that whoever resumes finds no folder held.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from gonie.errors import GonieError
from gonie.training.cell import Ended, Event, Preparations, Tell, run_cell
from gonie.training.interrupt import Interrupt

WAIT = 0.2
"""Seconds until a wish to stop is noticed while no worker says anything."""


@dataclass(frozen=True)
class Refused:
    """A worker cannot go on, for a reason that a user can do something about."""

    reason: str


@dataclass(frozen=True)
class Crashed:
    """A worker met an error that is none of the user's."""

    trace: str


@dataclass
class Worker:
    """A process, this end of its pipe, and the folder it is at work in."""

    process: SpawnProcess
    pipe: Connection
    folder: Path | None = None


def run_here(folders: Iterable[Path], preparations: Preparations, tell: Tell, *, keep: bool) -> bool:
    """Train the cells one after another in this process; false if asked to stop."""
    with Interrupt() as interrupt:
        for folder in folders:
            if interrupt.asked or not run_cell(folder, preparations, tell, keep=keep):
                return False
    return True


def run_spread(folders: Iterable[Path], tell: Tell, *, jobs: int, keep: bool) -> bool:
    """Train the cells in ``jobs`` processes, begun in the order given; false if asked to stop."""
    waiting = deque(folders)
    with Interrupt() as interrupt, _hired(min(jobs, len(waiting)), keep=keep) as workers:
        for worker in workers:
            _send_next(worker, waiting)
        stopping = False
        while workers:
            if interrupt.asked and not stopping:
                stopping = True
                waiting.clear()
                for worker in workers:
                    worker.process.terminate()  # it saves where it stands
            for worker in _ready(workers):
                if _listen(worker, waiting, tell):
                    continue
                workers.remove(worker)
                if worker.folder is not None and not interrupt.asked:
                    raise _lost(worker)
    return not interrupt.asked


def _ready(workers: list[Worker]) -> list[Worker]:
    """Those that have said something, or are gone; none if nobody does for a while."""
    ready = wait([worker.pipe for worker in workers], timeout=WAIT)
    return [worker for worker in workers if worker.pipe in ready]


def _listen(worker: Worker, waiting: deque[Path], tell: Tell) -> bool:
    """Pass on what the worker says, and give it the next cell at the end of one; false if it is gone."""
    try:
        said: Event | Refused | Crashed = worker.pipe.recv()
    except (EOFError, OSError):
        return False
    if isinstance(said, Refused):
        raise GonieError(said.reason)
    if isinstance(said, Crashed):
        raise RuntimeError(f"a worker met an error:\n{said.trace}")
    tell(said)
    if isinstance(said, Ended):
        _send_next(worker, waiting)
    return True


def _send_next(worker: Worker, waiting: deque[Path]) -> None:
    """Give the worker its next cell, or the word that there is none."""
    worker.folder = waiting.popleft() if waiting else None
    try:
        worker.pipe.send(worker.folder)
    except OSError:  # it is gone, which reading from it will tell
        return


def _lost(worker: Worker) -> GonieError:
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"by signal {-code}" if code < 0 else f"with status {code}"
    return GonieError(
        f"{worker.folder}: expected its result, but the process that trained it ended {how}; perhaps the "
        "memory was used up. Go on with --resume and fewer --jobs."
    )


@contextmanager
def _hired(number: int, *, keep: bool) -> Iterator[list[Worker]]:
    """Workers at the other ends of their pipes; however the block ends, none is left after it."""
    context = multiprocessing.get_context("spawn")
    hired: list[Worker] = []
    try:
        for _ in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs, keep), daemon=True)
            with _deaf():
                process.start()
            theirs.close()
            hired.append(Worker(process, ours))
        yield list(hired)
    except BaseException:
        for worker in hired:
            worker.process.terminate()
        raise
    finally:
        for worker in hired:
            worker.process.join()


@contextmanager
def _deaf() -> Iterator[None]:
    """Within the block Ctrl-C is ignored, and so it is in processes begun there, even while they load."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def work(pipe: Connection, keep: bool) -> None:
    """What a worker does: train the cells that come through its pipe until none comes.

    Ctrl-C reaches every process of a terminal; a worker is deaf to it but in training, which saves at it. The
    process that hired it ends it.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    preparations = Preparations()
    try:
        while (folder := pipe.recv()) is not None:
            if not run_cell(folder, preparations, pipe.send, keep=keep):
                return
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
    except (GonieError, OSError) as error:
        pipe.send(Refused(str(error)))
    except Exception:  # raised again, with its trace, by the process that hired this one
        pipe.send(Crashed(traceback.format_exc()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # at once, in whatever it is: files are whole or not there
