"""Vectors of sentences as a file: one array a sentence under its number, written one by one.

    FILE.npz          a zip of numpy arrays "0", "1", …, not compressed, as ``numpy.load`` reads it
    FILE.h5, .hdf5    datasets "0", "1", …; the attribute ``tokens`` of each has its words as JSON

Either is written whole or not at all, and never held in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from gonie.errors import MissingExtraError, OutputError
from gonie.system.files import atomic_file, atomic_path

Write = Callable[[Sequence[str], NDArray[np.float32]], None]
"""Takes the words of the next sentence, and its vectors."""


def vector_file(path: Path) -> AbstractContextManager[Write]:
    """The file to write, in the format that its suffix names; there only when the block ends well."""
    make = FORMATS.get(path.suffix.lower())
    if make is None:
        raise OutputError(f"expected --out {', '.join(f'FILE{known}' for known in FORMATS)}, got {path}")
    return make(path)


@contextmanager
def _npz(path: Path) -> Iterator[Write]:
    with atomic_file(path, "wb") as file, ZipFile(file, "w") as archive:
        written = 0

        def write(words: Sequence[str], vectors: NDArray[np.float32]) -> None:
            nonlocal written
            # an entry of its own making has no date: the same vectors are the same file
            with archive.open(ZipInfo(f"{written}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, vectors, allow_pickle=False)
            written += 1

        yield write


@contextmanager
def _hdf5(path: Path) -> Iterator[Write]:
    try:
        import h5py  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise MissingExtraError("h5py", extra="train", purpose="writing HDF5") from None
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:

        def write(words: Sequence[str], vectors: NDArray[np.float32]) -> None:
            dataset = file.create_dataset(str(len(file)), data=vectors)
            dataset.attrs["tokens"] = json.dumps(words, ensure_ascii=False)

        yield write


FORMATS: Mapping[str, Callable[[Path], AbstractContextManager[Write]]] = {
    ".npz": _npz,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
}
