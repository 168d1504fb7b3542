"""A lock on a folder, so that only one process writes there at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gonie.errors import GonieError


@contextmanager
def folder_lock(folder: Path, *, refusal: GonieError) -> Iterator[None]:
    """Lock ``folder`` for this process during the block. Raise ``refusal`` if another process has the lock.

    The lock ends with the process.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, refusal)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, refusal: GonieError) -> None:
    """Lock an open folder, if the system supports it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise refusal from error
    except OSError:  # a file system without locks
        return
