"""A folder of flat arrays: each a raw little-endian file beside an index that names their types and sizes.

What is larger than memory is written block by block and read by mapping it. The index is written last, so a
folder whose writer was killed has none and is never taken for a whole one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError, OutputError
from gonie.system.files import atomic_write

Array = NDArray[Any]
T = TypeVar("T")


class ArrayWriter:
    """Arrays that grow at their ends, in the files of ``folder``; what stood there before is replaced.

    ``index`` is the name of the index, ``noun`` what the folder holds, for messages.
    """

    def __init__(self, folder: Path, *, index: str, noun: str) -> None:
        self._folder = folder
        self._index = index
        self._noun = noun
        self._arrays: dict[str, tuple[str, int]] = {}
        with self._told():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / index).unlink(missing_ok=True)  # until it is whole again, it is none

    def append(self, name: str, block: Array) -> None:
        """Add ``block`` to the end of the array ``name``."""
        little = block.astype(block.dtype.newbyteorder("<"), copy=False)
        known = self._arrays.get(name)
        path = _file(self._folder, name)
        with self._told():
            if known is None:
                path.unlink(missing_ok=True)  # whoever has mapped the old file keeps it
            with open(path, "ab") as file:
                little.tofile(file)
        self._arrays[name] = (little.dtype.str, len(block) + (known[1] if known else 0))

    def finish(self, **facts: Any) -> None:
        """Write the index with these facts beside the arrays, which makes the folder whole."""
        with self._told():
            for name in self._arrays:
                with open(_file(self._folder, name), "ab") as file:
                    os.fsync(file.fileno())  # the index must not reach the disk before them
        atomic_write(self._folder / self._index, json.dumps({"arrays": self._arrays, **facts}))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"cannot write {self._noun} to {self._folder}: {reason}") from error


def open_arrays(
    folder: Path, make: Callable[[dict[str, Array], dict[str, Any]], T], *, index: str, noun: str, fix: str
) -> T:
    """What ``make`` makes of the arrays that an ``ArrayWriter`` left and of the index, with its facts.

    The arrays are mapped: nothing is read until it is used. What ``make`` cannot use (``LookupError``,
    ``TypeError``, ``ValueError``) is refused as a damaged folder is.
    """
    try:
        facts = json.loads((folder / index).read_text("utf-8"))
        return make({name: _mapped(folder, name, *kind) for name, kind in facts["arrays"].items()}, facts)
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError(expected=f"{noun} with {index}", got=str(error), path=folder, fix=fix) from error


def _mapped(folder: Path, name: str, kind: str, size: int) -> Array:
    """An array of ``size`` numbers, mapped from its file; an empty file cannot be mapped."""
    if not size:
        return np.zeros(0, dtype=kind)
    path = _file(folder, name)
    array: Array = np.memmap(path, dtype=kind, mode="r")
    if len(array) != size:
        raise ValueError(f"{len(array)} numbers in {path.name} in place of {size}")
    return array


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"
