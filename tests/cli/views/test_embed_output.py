"""Tests vector files: NumPy and h5py read back what was written, and no partial file is left."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from gonie.cli.views.embed_output import vector_file
from gonie.errors import MissingExtraError, OutputError

CHANCE = np.random.default_rng(1)
ARRAYS = [CHANCE.normal(size=(3, length, 4)).astype(np.float32) for length in (2, 0, 5, 1)]
WORDS = [tuple(f"w{number}" for number in range(array.shape[1])) for array in ARRAYS]


def write(path: Path) -> None:
    with vector_file(path) as put:
        for words, array in zip(WORDS, ARRAYS, strict=True):
            put(words, array)


def test_npz_has_one_array_per_sentence(tmp_path: Path) -> None:
    write(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz", allow_pickle=False) as found:
        assert found.files == ["0", "1", "2", "3"]
        for number, array in enumerate(ARRAYS):
            np.testing.assert_array_equal(found[str(number)], array)


def test_the_same_vectors_give_identical_files(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("name", ["v.h5", "v.hdf5", "v.HDF5"])
def test_hdf5_has_the_vectors_and_the_words(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    with h5py.File(tmp_path / name) as found:
        assert sorted(found) == ["0", "1", "2", "3"]
        for number, (words, array) in enumerate(zip(WORDS, ARRAYS, strict=True)):
            np.testing.assert_array_equal(found[str(number)][...], array)
            assert json.loads(found[str(number)].attrs["tokens"]) == list(words)


def test_hdf5_stores_the_words_of_a_very_long_sentence(tmp_path: Path) -> None:
    """A fixed-size HDF5 attribute holds at most 64 kB."""
    words = ("단어" * 10,) * 20_000
    with vector_file(tmp_path / "v.h5") as put:
        put(words, np.zeros((1, len(words), 1), np.float32))
    with h5py.File(tmp_path / "v.h5") as found:
        assert tuple(json.loads(found["0"].attrs["tokens"])) == words


@pytest.mark.parametrize("name", ["v.npz", "v.h5"])
def test_an_interrupted_write_keeps_the_existing_file(tmp_path: Path, name: str) -> None:
    def begin() -> None:
        with vector_file(tmp_path / name) as put:
            put(WORDS[0], ARRAYS[0])
            raise KeyboardInterrupt

    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        begin()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize("name", ["v", "v.npy", "v.txt"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"unknown file suffix. Use \.npz, \.h5, \.hdf5"):
        vector_file(tmp_path / name)


def test_without_h5py_the_extra_to_install_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"writing HDF5 needs h5py.*pip install 'gonie\[train\]'"):
        vector_file(tmp_path / "v.h5").__enter__()
