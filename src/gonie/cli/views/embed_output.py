"""Writers of embedding files: one array per sentence under its number.

    FILE.npz          an uncompressed zip of numpy arrays "0", "1", …, as read by ``numpy.load``
    FILE.h5, .hdf5    datasets "0", "1", …, each with its words as JSON in the attribute ``tokens``

Files are written atomically, sentence by sentence.
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
"""Writes the words and vectors of the next sentence."""


def vector_file(path: Path) -> AbstractContextManager[Write]:
    """Return a context that writes ``path`` in the format of its suffix, if the block raises no error."""
    make = FORMATS.get(path.suffix.lower())
    if make is None:
        raise OutputError(f"{path}: unknown file suffix. Use {', '.join(FORMATS)}.")
    return make(path)


@contextmanager
def _npz(path: Path) -> Iterator[Write]:
    with atomic_file(path, "wb") as file, ZipFile(file, "w") as archive:
        written = 0

        def write(words: Sequence[str], vectors: NDArray[np.float32]) -> None:
            nonlocal written
            # a new ZipInfo has a fixed date, so the same vectors give the same file
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
