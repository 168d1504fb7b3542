"""Large arrays that are computed once and stored in a file: cached on disk, or temporary.

A cached file holds the numbers of the array, followed by their CRC-32. The file is written atomically, and a
truncated or damaged file is computed again.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gonie.errors import OutputError
from gonie.system.files import atomic_path, make_folder

Shape = tuple[int, ...]
Fill = Callable[[NDArray[Any]], None]
"""Fills an array of zeros in place."""
CHECKED = 1 << 24
"""Bytes read at once to compute the checksum."""
CHECKSUM = 4  # bytes


def cached_array(path: Path, shape: Shape, kind: DTypeLike, fill: Fill) -> NDArray[Any]:
    """Return the array cached at ``path``, memory-mapped read-only. ``fill`` computes it if it is missing."""
    size = prod(shape) * np.dtype(kind).itemsize
    if not _is_whole(path, size):
        make_folder(path.parent)
        with atomic_path(path) as temporary:
            with temporary.open("r+b") as file:
                fill(_reserved(file, shape, kind))
            with temporary.open("r+b") as file:
                checksum = _checksum(file, size)
                file.seek(size)
                file.write(checksum)
    return np.memmap(path, dtype=kind, mode="r", shape=shape)


def temporary_array(shape: Shape, kind: DTypeLike, fill: Fill) -> NDArray[Any]:
    """Return the array that ``fill`` computes, in a temporary file that is deleted after its last use."""
    try:
        with tempfile.TemporaryFile() as file:
            array = _reserved(file, shape, kind)
    except OSError as error:
        raise OutputError(
            f"cannot write a temporary file in {tempfile.gettempdir()}: {error.strerror}. "
            "Free some space, or set TMPDIR to another folder"
        ) from error
    fill(array)
    return array


def _reserved(file: IO[bytes], shape: Shape, kind: DTypeLike) -> NDArray[Any]:
    """Return an array of zeros in ``file`` with its disk space reserved.

    Without the reservation, writing to the map on a full disk would kill the process without an error.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, prod(shape) * np.dtype(kind).itemsize)
    return np.memmap(file, dtype=kind, mode="r+", shape=shape)


def _is_whole(path: Path, size: int) -> bool:
    """Return whether the file has the right size and checksum."""
    if not path.is_file() or path.stat().st_size != size + CHECKSUM:
        return False
    with path.open("rb") as file:
        return _checksum(file, size) == file.read(CHECKSUM)


def _checksum(file: IO[bytes], size: int) -> bytes:
    """Return the checksum of the first ``size`` bytes of a file that is at its beginning."""
    value = 0
    while block := file.read(min(size - file.tell(), CHECKED)):
        value = zlib.crc32(block, value)
    return value.to_bytes(CHECKSUM, "little")
