"""Cells side by side: a few processes, each of which trains one after another.

A worker ends with this process, however that ends (``data/processes.py``), so that whoever resumes finds no
folder held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from gonie.errors import GonieError
from gonie.experiments.cell import Ended, Event, Preparations, Tell, run_cell
from gonie.system.worker_pool import Hired, hired
from gonie.training.interrupt import Interrupt

WAIT = 0.2
"""Seconds until a wish to stop is noticed while no worker says anything."""


@dataclass
class CellWorker:
    """A process and the folder it is at work in."""

    hired: Hired
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
    with Interrupt() as interrupt, hired(min(jobs, len(waiting)), work, keep) as crew:
        workers = [CellWorker(each) for each in crew]
        for worker in workers:
            _send_next(worker, waiting)
        stopping = False
        while workers:
            if interrupt.asked and not stopping:
                stopping = True
                waiting.clear()
                for worker in workers:
                    worker.hired.process.terminate()  # it saves where it stands
            for worker in _ready(workers):
                if _listen(worker, waiting, tell):
                    continue
                workers.remove(worker)
                if worker.folder is not None and not interrupt.asked:
                    raise _lost(worker)
    return not interrupt.asked


def _ready(workers: list[CellWorker]) -> list[CellWorker]:
    """Those that have said something, or are gone; none if nobody does for a while."""
    ready = wait([worker.hired.pipe for worker in workers], timeout=WAIT)
    return [worker for worker in workers if worker.hired.pipe in ready]


def _listen(worker: CellWorker, waiting: deque[Path], tell: Tell) -> bool:
    """Pass on what the worker says, and give it the next cell at the end of one; false if it is gone."""
    try:
        said: Event = worker.hired.answer()
    except (EOFError, OSError):
        return False
    tell(said)
    if isinstance(said, Ended):
        _send_next(worker, waiting)
    return True


def _send_next(worker: CellWorker, waiting: deque[Path]) -> None:
    """Give the worker its next cell, or the word that there is none."""
    worker.folder = waiting.popleft() if waiting else None
    try:
        worker.hired.pipe.send(worker.folder)
    except OSError:  # it is gone, which reading from it will tell
        return


def _lost(worker: CellWorker) -> GonieError:
    how = worker.hired.ended()
    return GonieError(
        f"{worker.folder}: expected its result, but the process that trained it ended {how}; perhaps the "
        "memory was used up. Go on with --resume and fewer --jobs."
    )


def work(pipe: Connection, keep: bool) -> None:
    """What a worker does: train the cells that come through its pipe until none comes.

    It is deaf to Ctrl-C but in training, which saves at it. The process that hired it ends it.
    """
    preparations = Preparations()
    while (folder := pipe.recv()) is not None:
        if not run_cell(folder, preparations, pipe.send, keep=keep):
            return
