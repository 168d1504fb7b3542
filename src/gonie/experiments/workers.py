"""Runs the cells of a comparison, in this process or in worker processes.

Workers always end with this process (``system/worker_pool.py``), so that no folder stays locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from gonie.errors import GonieError
from gonie.experiments.cell import Keeping, Preparations, Tell, run_cell
from gonie.messages import language, use_language
from gonie.system.worker_pool import WorkerLostError, worker_pool
from gonie.training.interrupt import Interrupt

ADVICE = "Resume with --resume and fewer --jobs."


Chain = Sequence[Path]
"""Folders of cells that are trained one after another, because each may start from the one before."""


def run_in_process(chains: Iterable[Chain], preparations: Preparations, tell: Tell, *, keep: Keeping) -> bool:
    """Train the cells one after another in this process. Return False if interrupted."""
    with Interrupt() as interrupt:
        for folder in chain.from_iterable(chains):
            if interrupt.requested or not run_cell(folder, preparations, tell, keep=keep):
                return False
    return True


def run_in_parallel(chains: Iterable[Chain], tell: Tell, *, jobs: int, keep: Keeping) -> bool:
    """Train the chains in ``jobs`` worker processes, started in order. Return False if interrupted."""
    cells = list(chains)
    with (
        Interrupt() as interrupt,
        worker_pool(min(jobs, len(cells)), start_cells, keep, language(), advice=ADVICE) as pool,
    ):
        try:
            for trained in pool.map(cells, tell=tell, stop=lambda: interrupt.requested):
                if not trained and not interrupt.requested:
                    raise GonieError(f"a worker process was interrupted and saved its run. {ADVICE}")
        except WorkerLostError as lost:
            raise GonieError(f"{lost.item[0]}: {lost}") from None
    return not interrupt.requested


def start_cells(tell: Tell, keep: Keeping, speaks: str) -> Callable[[Chain], bool]:
    """Return the function of a worker process, which trains the cells of a chain.

    It returns False if interrupted. Workers ignore Ctrl-C except in training, which saves a checkpoint. The
    process that owns the pool ends them. ``speaks`` is the language of their reports.
    """
    train = partial(run_cell, preparations=Preparations(), tell=tell, keep=keep)

    def speaking(folders: Chain) -> bool:
        with use_language(speaks):
            return all(map(train, folders))

    return speaking
