"""A folder of flat arrays: raw little-endian files and an index of their types and sizes.

Arrays larger than memory are written block by block and read through memory mapping. The index is written
last, so a folder whose writer was killed has no index and is never mistaken for a complete one.
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
    """Write arrays block by block to files in ``folder``, replacing what was there before.

    ``index`` is the name of the index file. ``noun`` says what the folder holds, for error messages.
    """

    def __init__(self, folder: Path, *, index: str, noun: str) -> None:
        self._folder = folder
        self._index = index
        self._noun = noun
        self._arrays: dict[str, tuple[str, int]] = {}
        with self._output_errors():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / index).unlink(missing_ok=True)  # the folder is invalid until it is complete

    @classmethod
    def reopened(cls, folder: Path, *, index: str, noun: str) -> ArrayWriter:
        """Return a writer that appends to the arrays of a folder with an index.

        What was appended after the index was written is cut off.
        """
        writer = cls.__new__(cls)
        writer._folder, writer._index, writer._noun = folder, index, noun
        arrays = json.loads((folder / index).read_text("utf-8"))["arrays"]
        writer._arrays = {name: (kind, size) for name, (kind, size) in arrays.items()}
        with writer._output_errors():
            for name, (kind, size) in writer._arrays.items():
                path, stored = _file(folder, name), size * np.dtype(kind).itemsize
                if path.stat().st_size < stored:
                    raise InputError(
                        f"cannot go on with {noun}: {path.name} is shorter than {index} says",
                        path=folder,
                        fix="Delete the folder to start over",
                    )
                os.truncate(path, stored)
        return writer

    def append(self, name: str, block: Array) -> None:
        """Append ``block`` to the array ``name``."""
        little = block.astype(block.dtype.newbyteorder("<"), copy=False)
        known = self._arrays.get(name)
        path = _file(self._folder, name)
        with self._output_errors():
            if known is None:
                path.unlink(missing_ok=True)  # processes that have mapped the old file keep it
            with open(path, "ab") as file:
                little.tofile(file)
        self._arrays[name] = (little.dtype.str, len(block) + (known[1] if known else 0))

    def finish(self, **facts: Any) -> None:
        """Write the index with these facts, which completes the folder.

        Blocks may be appended afterwards. They belong to the folder once the index is written again.
        """
        with self._output_errors():
            for name in self._arrays:
                with open(_file(self._folder, name), "ab") as file:
                    os.fsync(file.fileno())  # the arrays must be on disk before the index
        atomic_write(self._folder / self._index, json.dumps({"arrays": self._arrays, **facts}))

    @contextmanager
    def _output_errors(self) -> Iterator[None]:
        """Convert ``OSError`` to ``OutputError``."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"cannot write {self._noun} to {self._folder}: {reason}") from error


def open_arrays(
    folder: Path, make: Callable[[dict[str, Array], dict[str, Any]], T], *, index: str, noun: str, fix: str
) -> T:
    """Return ``make(arrays, facts)`` for a folder written by ``ArrayWriter``.

    ``facts`` is the content of the index. The arrays are memory-mapped, so nothing is read until it is used.
    If ``make`` raises ``LookupError``, ``TypeError`` or ``ValueError``, the folder is reported as damaged.
    """
    try:
        facts = json.loads((folder / index).read_text("utf-8"))
        return make({name: _mapped(folder, name, *kind) for name, kind in facts["arrays"].items()}, facts)
    except OSError as error:
        name = Path(error.filename or index).name
        raise InputError(f"cannot read {noun}: {name}: {error.strerror}", path=folder, fix=fix) from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError(
            f"cannot read {noun}: {index} or its arrays are damaged ({error})", path=folder, fix=fix
        ) from error


def _mapped(folder: Path, name: str, kind: str, size: int) -> Array:
    """Return an array of ``size`` numbers, mapped from its file. An empty file cannot be mapped."""
    if not size:
        return np.zeros(0, dtype=kind)
    path = _file(folder, name)
    array: Array = np.memmap(path, dtype=kind, mode="r")
    if len(array) != size:
        raise ValueError(f"expected {size} numbers in {path.name}, got {len(array)}")
    return array


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"
