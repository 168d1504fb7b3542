"""Atomic replacement of folders: a folder is complete or unchanged, even after an interruption."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gonie.errors import OutputError
from gonie.system import atomic_folder as module
from gonie.system.atomic_folder import backup_path, replace_folder

OLD, NEW = {"a": b"old", "b": b"old too"}, {"a": b"new", "b": b"new too"}


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_folder_is_written_and_replaced(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "bundle"
    replace_folder(target, OLD)
    assert content(target) == OLD
    replace_folder(target, NEW)
    assert content(target) == NEW
    assert [entry.name for entry in target.parent.iterdir()] == ["bundle"]  # no leftovers


@pytest.mark.parametrize("step", ["_write_synced", "_sync"])
def test_a_full_disk_keeps_the_old_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    target = tmp_path / "bundle"
    replace_folder(target, OLD)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, step, full)
    with pytest.raises(OutputError, match="No space left on device"):
        replace_folder(target, NEW)
    assert content(target) == OLD
    assert [entry.name for entry in tmp_path.iterdir()] == ["bundle"]


class Killed(BaseException):
    """Represents a process that is killed at this point."""


@pytest.mark.parametrize("rename", [1, 2])
def test_a_kill_between_renames_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rename: int
) -> None:
    target = tmp_path / "bundle"
    replace_folder(target, OLD)
    real, calls = Path.rename, 0

    def stop(self: Path, other: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == rename:
            raise Killed
        return real(self, other)

    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(Killed):
        replace_folder(target, NEW)
    monkeypatch.undo()
    survivors = [place for place in (target, backup_path(target)) if place.exists()]
    assert [content(place) for place in survivors] == [OLD]
    replace_folder(target, {**OLD, "a": b"third"})  # the next write cleans up
    assert content(target)["a"] == b"third"
    assert [entry.name for entry in tmp_path.iterdir()] == ["bundle"]


def test_the_backup_is_restored_before_the_next_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "bundle"
    replace_folder(target, OLD)
    target.rename(backup_path(target))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_write_synced", full)
    with pytest.raises(OutputError):
        replace_folder(target, NEW)
    assert content(target) == OLD


def test_folders_with_other_files_are_never_replaced(tmp_path: Path) -> None:
    target = tmp_path / "home"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"not part of a bundle: thesis\.tex"):
        replace_folder(target, NEW)
    assert (target / "thesis.tex").read_text() == "years of work"
    with pytest.raises(OutputError, match="expected a folder, got a file"):
        replace_folder(target / "thesis.tex", NEW)


def test_an_impossible_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match=r"cannot write .*file/bundle"):
        replace_folder(tmp_path / "file" / "bundle", NEW)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        replace_folder(tmp_path / "bundle", NEW)
