"""Processes that work for this one, each at the other end of a pipe of its own.

Nothing else is shared, so that one that dies takes no lock with it. None outlives the block that hired it,
nor this process, however that ends: whoever comes after finds no file still being written.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from gonie.errors import GonieError


class WorkerRefused(NamedTuple):
    """What a process says that cannot go on, for a reason that a user can do something about."""

    reason: str


class Crashed(NamedTuple):
    """What a process says that met an error that is none of the user's."""

    trace: str


@dataclass
class Hired:
    """A process and this end of its pipe."""

    process: SpawnProcess
    pipe: Connection

    def answer(self) -> Any:
        """The next that it says; what it met is raised here, ``EOFError`` or ``OSError`` if it is gone."""
        said = self.pipe.recv()
        if isinstance(said, WorkerRefused):
            raise GonieError(said.reason)
        if isinstance(said, Crashed):
            raise RuntimeError(f"a worker met an error:\n{said.trace}")
        return said

    def ended(self) -> str:
        """How a process that is gone has ended, in words."""
        self.process.join()
        code = self.process.exitcode or 0
        return f"by signal {-code}" if code < 0 else f"with status {code}"


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def hired(number: int, work: Callable[..., None], *arguments: Any) -> Iterator[list[Hired]]:
    """``number`` processes that run ``work(pipe, *arguments)``; when the block ends, so have they.

    If the block ends well they are waited for: their pipes are closed, at which ``recv`` in ``work`` raises
    ``EOFError``. What ``work`` raises comes out of ``Hired.answer``.
    They are deaf to Ctrl-C, which reaches every process of a terminal: this process ends them.
    """
    context = multiprocessing.get_context("spawn")
    crew: list[Hired] = []
    try:
        for _ in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(target=_begin, args=(work, theirs, *arguments), daemon=True)
            with _deaf():
                process.start()
            theirs.close()
            crew.append(Hired(process, ours))
        yield list(crew)
        for each in crew:
            each.pipe.close()
    except BaseException:
        for each in crew:
            each.process.terminate()  # its pipe stays open: it may have something to save and tell
        raise
    finally:
        for each in crew:
            each.process.join()


def run(work: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    """What a hired process does: ``work``, and if it cannot go on, say why."""
    try:
        work(pipe, *arguments)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):  # nobody waits for an answer any more
        return
    except (GonieError, OSError) as error:
        pipe.send(WorkerRefused(str(error)))
    except Exception:  # raised again, with its trace, by the process that hired this one
        pipe.send(Crashed(traceback.format_exc()))


def _begin(work: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    run(work, pipe, *arguments)


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


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # at once, in whatever it is: files are whole or not there
