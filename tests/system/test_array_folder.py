"""Folders of arrays: they survive writing and reading, and incomplete folders are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError, OutputError
from gonie.system.array_folder import Array, ArrayWriter, open_arrays


def opened(folder: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    return open_arrays(
        folder, lambda arrays, facts: (arrays, facts), index="i.json", noun="numbers", fix="Count again"
    )


def written(folder: Path, *blocks: Array) -> ArrayWriter:
    writer = ArrayWriter(folder, index="i.json", noun="numbers")
    for block in blocks:
        writer.append("a", block)
    return writer


def test_blocks_are_read_as_one_memory_mapped_array(tmp_path: Path) -> None:
    writer = written(tmp_path / "deep" / "er", np.arange(3), np.arange(0), np.arange(2))
    writer.append("none", np.zeros(0, dtype=np.int32))
    writer.finish(colour="red")
    arrays, facts = opened(tmp_path / "deep" / "er")
    assert arrays["a"].tolist() == [0, 1, 2, 0, 1]
    assert isinstance(arrays["a"], np.memmap)
    assert arrays["none"].tolist() == []
    assert facts["colour"] == "red"


def test_arrays_are_stored_in_little_endian_order(tmp_path: Path) -> None:
    """Folders are copied between machines."""
    written(tmp_path, np.array([1, 2], dtype=">i4")).finish()
    assert (tmp_path / "a.bin").read_bytes() == bytes([1, 0, 0, 0, 2, 0, 0, 0])
    assert opened(tmp_path)[0]["a"].tolist() == [1, 2]


def test_replacing_arrays_does_not_change_those_in_use(tmp_path: Path) -> None:
    """Training must not crash when another process encodes its corpus again."""
    written(tmp_path, np.arange(5000)).finish()
    old = opened(tmp_path)[0]["a"]
    written(tmp_path, np.zeros(1, dtype=np.int64)).finish()
    assert old.tolist() == list(range(5000))
    assert opened(tmp_path)[0]["a"].tolist() == [0]


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    written(tmp_path, np.arange(3)).finish()
    written(tmp_path, np.arange(3))
    with pytest.raises(InputError, match=r"cannot read numbers: i\.json.*Count again"):
        opened(tmp_path)


@pytest.mark.parametrize("index", ["", "[]", "{}", '{"arrays": 3}', '{"arrays": {"a": ["<i8"]}}'])
def test_a_damaged_index_is_refused(tmp_path: Path, index: str) -> None:
    written(tmp_path, np.arange(3)).finish()
    (tmp_path / "i.json").write_text(index)
    with pytest.raises(InputError, match=r"cannot read numbers: i\.json or its arrays are damaged"):
        opened(tmp_path)


@pytest.mark.parametrize("size", [0, 8, 23, 32])
def test_an_array_of_another_size_is_refused(tmp_path: Path, size: int) -> None:
    written(tmp_path, np.arange(3)).finish()
    (tmp_path / "a.bin").write_bytes(bytes(size))
    with pytest.raises(InputError, match=r"cannot read numbers: i\.json or its arrays are damaged"):
        opened(tmp_path)


def test_arrays_that_the_reader_cannot_use_are_refused(tmp_path: Path) -> None:
    written(tmp_path, np.arange(3)).finish()

    def use(arrays: dict[str, Array], facts: dict[str, Any]) -> Array:
        return arrays[facts["which"]]

    with pytest.raises(InputError, match="which"):
        open_arrays(tmp_path, use, index="i.json", noun="numbers", fix="Count again")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps({}))
    with pytest.raises(OutputError, match="cannot write numbers to"):
        written(tmp_path / "file")


def test_a_reopened_writer_goes_on_after_the_last_index(tmp_path: Path) -> None:
    """What was appended after it belongs to no index, and is cut off."""
    writer = ArrayWriter(tmp_path, index="index.json", noun="numbers")
    writer.append("a", np.arange(3, dtype=np.int32))
    writer.finish(part=1)
    writer.append("a", np.arange(7, dtype=np.int32))
    again = ArrayWriter.reopened(tmp_path, index="index.json", noun="numbers")
    again.append("a", np.array([9], dtype=np.int32))
    again.append("b", np.ones(2))
    again.finish(part=2)
    arrays, facts = open_arrays(tmp_path, lambda *found: found, index="index.json", noun="numbers", fix="")
    assert arrays["a"].tolist() == [0, 1, 2, 9]
    assert arrays["b"].tolist() == [1, 1]
    assert facts["part"] == 2


def test_a_folder_with_a_shortened_array_is_not_reopened(tmp_path: Path) -> None:
    writer = ArrayWriter(tmp_path, index="index.json", noun="numbers")
    writer.append("a", np.arange(3, dtype=np.int32))
    writer.finish()
    (tmp_path / "a.bin").write_bytes(b"1234")
    with pytest.raises(InputError, match=r"a\.bin is shorter than index\.json says"):
        ArrayWriter.reopened(tmp_path, index="index.json", noun="numbers")
