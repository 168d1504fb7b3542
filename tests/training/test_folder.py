"""Tests the run folder: it never overwrites other files, and its history is readable after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import OutputError, ResumeError
from gonie.tasks.table import TASKS
from gonie.training.folder import RunFolder, lock_run, next_folder


def test_a_folder_is_created_with_its_parents(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b"
    assert RunFolder(root).create()
    assert root.is_dir()
    assert not RunFolder(root).create(), "an empty folder that was there before is used as it is"


@pytest.mark.parametrize("name", ["recipe.toml", "bilm.json", "best.safetensors", "bundle", "report.html"])
def test_a_folder_with_files_of_a_run_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(OutputError, match=r"already contains a run|would overwrite"):
        RunFolder(tmp_path).create()
    assert (tmp_path / name).read_text() == "mine"


def test_each_task_defines_the_files_of_its_runs(tmp_path: Path) -> None:
    """A folder `text` belongs to the user in a tagger's run, but to the run of a language model."""
    (tmp_path / "text").mkdir()
    RunFolder(tmp_path).create()
    RunFolder(tmp_path).remove()
    assert (tmp_path / "text").is_dir()
    model = RunFolder(tmp_path, TASKS["pretrain"].run_files)
    with pytest.raises(OutputError, match="would overwrite: text"):
        model.create()
    (tmp_path / "report.html").touch()
    model.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_other_files_in_the_folder_are_kept(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    RunFolder(tmp_path).create()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        RunFolder(tmp_path / "x").create()
    with pytest.raises(OutputError, match="cannot create folder"):
        RunFolder(tmp_path / "x" / "y").create()


def test_a_folder_without_a_run_cannot_be_reopened(tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="Start a run without --resume"):
        RunFolder(tmp_path).reopen()
    (tmp_path / "recipe.toml").write_text("")
    RunFolder(tmp_path).reopen()


def test_the_history_is_read_up_to_an_epoch(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    assert run.history() == []
    records = [{"epoch": epoch, "loss": 1 / epoch} for epoch in (1, 2, 3)]
    run.write_history(records)
    assert run.history() == records
    assert run.history(before_epoch=2) == records[:2]
    assert run.history(before_epoch=0) == []


def test_a_truncated_last_line_is_ignored(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write_history([{"epoch": 1}, {"epoch": 2}])
    run.metrics.write_text(run.metrics.read_text("utf-8")[:-4], "utf-8")
    assert run.history() == [{"epoch": 1}]


def test_a_run_folder_can_be_locked_only_once(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    run = RunFolder(tmp_path)
    with run.locked(), pytest.raises(ResumeError, match="another process"), RunFolder(tmp_path).locked():
        pass
    with run.locked():
        pass


def test_lock_run_can_be_held_only_once(tmp_path: Path) -> None:
    with lock_run(tmp_path), pytest.raises(ResumeError, match="another process"), lock_run(tmp_path):
        pass
    with lock_run(tmp_path):
        pass


def test_a_folder_name_is_free_until_it_contains_the_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert next_folder("x", mark="m") == next_folder("x", mark="m", resume=True) == Path("runs/x")
    (tmp_path / "runs/x").mkdir(parents=True)
    assert next_folder("x", mark="m") == Path("runs/x")
    (tmp_path / "runs/x/m").touch()
    assert next_folder("x", mark="m") == Path("runs/x-2")
    assert next_folder("x", mark="m", resume=True) == Path("runs/x")
