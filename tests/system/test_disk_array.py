"""Arrays in files: computed once, and computed again if the file is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gonie.errors import OutputError
from gonie.system import disk_array
from gonie.system.disk_array import cached_array, temporary_array

SHAPE, KIND = (7, 3), np.dtype("<f2")


class Filling:
    """Fills an array with 0, 1, 2 … and counts its calls."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, array: NDArray[Any]) -> None:
        assert not array.any()
        self.times += 1
        array[:] = np.arange(array.size).reshape(array.shape)


WANTED = np.arange(21).reshape(SHAPE)


def test_an_array_is_computed_once_and_then_read(tmp_path: Path) -> None:
    fill, path = Filling(), tmp_path / "deep" / "er" / "x.f2"
    for _ in range(3):
        array = cached_array(path, SHAPE, KIND, fill)
        assert array.dtype == KIND
        np.testing.assert_array_equal(array, WANTED)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert fill.times == 1
    assert [file.name for file in path.parent.iterdir()] == ["x.f2"]


@pytest.mark.parametrize("block", [1, 5, 1 << 24])
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content + b"\0",
        lambda content: content[:20] + bytes([content[20] ^ 1]) + content[21:],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: bytes(len(content)),
    ],
)
def test_a_truncated_or_damaged_array_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Any, block: int
) -> None:
    """Otherwise a model would silently learn from noise."""
    monkeypatch.setattr(disk_array, "CHECKED", block)
    fill, path = Filling(), tmp_path / "x.f2"
    cached_array(path, SHAPE, KIND, fill)
    path.write_bytes(damage(path.read_bytes()))
    np.testing.assert_array_equal(cached_array(path, SHAPE, KIND, fill), WANTED)
    assert fill.times == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_computation_leaves_no_file(tmp_path: Path, error: type[BaseException]) -> None:
    def fill(array: NDArray[Any]) -> None:
        array[0] = 1
        raise error

    with pytest.raises(error):
        cached_array(tmp_path / "x.f2", SHAPE, KIND, fill)
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_array_has_no_visible_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fill(array: NDArray[Any]) -> None:
        assert list(tmp_path.iterdir()) == [], "so that a kill leaves nothing either"
        Filling()(array)

    array = temporary_array(SHAPE, KIND, fill)
    np.testing.assert_array_equal(array, WANTED)
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be_written_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"cannot create folder .*file/x"):
        cached_array(tmp_path / "file" / "x" / "y.f2", SHAPE, KIND, Filling())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(OutputError, match=r"temporary file in .*gone: .*TMPDIR"):
        temporary_array(SHAPE, KIND, Filling())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this system reserves no room")
@pytest.mark.parametrize("make", ["cached_array(Path(sys.argv[1]), ", "temporary_array("])
def test_a_full_disk_is_reported_before_computing(tmp_path: Path, make: str) -> None:
    """Writing to a memory map on a full disk would kill the process without a message."""
    code = f"""
import resource, signal, sys
from pathlib import Path
from gonie.system.disk_array import cached_array, temporary_array
from gonie.errors import OutputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    {make}(1000, 10), "<f2", lambda array: print("computed"))
except OutputError as error:
    print("refused:", error)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "x.f2")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused: cannot write")
    assert list(tmp_path.iterdir()) == []
