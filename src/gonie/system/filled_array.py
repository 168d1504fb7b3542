"""A large array that is computed once, in a file instead of in memory: kept for the next time, or nameless.

A kept file is the array's numbers and then a CRC-32 of them. It is there only when it is whole, and one that
was cut short or damaged since is made again.
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
"""Puts the numbers into an array of zeros."""
CHECKED = 1 << 24
"""Bytes that are read at once to be checked."""
CHECKSUM = 4  # bytes


def kept_array(path: Path, shape: Shape, kind: DTypeLike, fill: Fill) -> NDArray[Any]:
    """The array that is kept at ``path``, mapped to be read; if there is none, ``fill`` makes it first."""
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


def nameless_array(shape: Shape, kind: DTypeLike, fill: Fill) -> NDArray[Any]:
    """The array that ``fill`` makes, in a file without a name: it is gone with the last who uses it."""
    try:
        with tempfile.TemporaryFile() as file:
            array = _reserved(file, shape, kind)
    except OSError as error:
        raise OutputError(
            f"cannot write a temporary file in {tempfile.gettempdir()}: {error.strerror}. "
            "Free some space, or name another folder in TMPDIR."
        ) from error
    fill(array)
    return array


def _reserved(file: IO[bytes], shape: Shape, kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros in ``file``, its place on the disk taken: a full disk is told of now, not later.

    Writing to a map of a place that is not there would end the program without a word.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, prod(shape) * np.dtype(kind).itemsize)
    return np.memmap(file, dtype=kind, mode="r+", shape=shape)


def _is_whole(path: Path, size: int) -> bool:
    """Does the file hold so many bytes, and still those that were written?"""
    if not path.is_file() or path.stat().st_size != size + CHECKSUM:
        return False
    with path.open("rb") as file:
        return _checksum(file, size) == file.read(CHECKSUM)


def _checksum(file: IO[bytes], size: int) -> bytes:
    """Of the first ``size`` bytes of a file that is at its beginning."""
    value = 0
    while block := file.read(min(size - file.tell(), CHECKED)):
        value = zlib.crc32(block, value)
    return value.to_bytes(CHECKSUM, "little")
