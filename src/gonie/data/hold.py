"""A hold on a folder: while one process writes there, another is refused in place of writing between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gonie.errors import GonieError


@contextmanager
def held(folder: Path, *, refusal: GonieError) -> Iterator[None]:
    """Within the block no other process holds ``folder``; if one does already, ``refusal`` is raised.

    The hold ends with the process.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, refusal)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, refusal: GonieError) -> None:
    """Hold an open folder for this process alone, where the system can."""
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
