"""Cells side by side: a few processes, each of which trains one after another.

A worker ends with this process, however that ends (``system/worker_pool.py``), so that whoever resumes finds
no folder locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from gonie.errors import GonieError
from gonie.experiments.cell import Preparations, Tell, run_cell
from gonie.system.worker_pool import WorkerLostError, worker_pool
from gonie.training.interrupt import Interrupt

ADVICE = "Resume with --resume and fewer --jobs."


def run_here(folders: Iterable[Path], preparations: Preparations, tell: Tell, *, keep: bool) -> bool:
    """Train the cells one after another in this process; false if asked to stop."""
    with Interrupt() as interrupt:
        for folder in folders:
            if interrupt.asked or not run_cell(folder, preparations, tell, keep=keep):
                return False
    return True


def run_spread(folders: Iterable[Path], tell: Tell, *, jobs: int, keep: bool) -> bool:
    """Train the cells in ``jobs`` processes, begun in the order given; false if asked to stop."""
    cells = list(folders)
    with (
        Interrupt() as interrupt,
        worker_pool(min(jobs, len(cells)), start_cells, keep, advice=ADVICE) as pool,
    ):
        try:
            for trained in pool.map(cells, tell=tell, stop=lambda: interrupt.asked):
                if not trained and not interrupt.asked:
                    raise GonieError(f"a worker process was asked to stop, and has saved its run. {ADVICE}")
        except WorkerLostError as lost:
            raise GonieError(f"{lost.item}: {lost}") from None
    return not interrupt.asked


def start_cells(tell: Tell, keep: bool) -> Callable[[Path], bool]:
    """What a worker process does with a folder: train the cell in it; false if it was asked to stop.

    It ignores Ctrl-C but in training, which saves at it. The process that owns the pool ends it.
    """
    return partial(run_cell, preparations=Preparations(), tell=tell, keep=keep)
