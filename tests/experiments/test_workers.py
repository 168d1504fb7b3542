"""Tests worker processes: one that dies or fails is reported, and no process is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from gonie.errors import GonieError
from gonie.experiments.cell import NOTHING, Advanced, Began, Ended, Event, Preparations
from gonie.experiments.outcome import CellScores, read_outcome
from gonie.experiments.workers import run_in_parallel, run_in_process, start_cells
from gonie.system.files import atomic_write
from gonie.tasks.recipe import load_recipe
from gonie.tasks.written_recipe import write_recipe
from gonie.training.folder import lock_run


def laid_out(toy: Path, root: Path, number: int, *changes: str) -> list[Path]:
    folders = [root / f"cell{at}" for at in range(number)]
    for seed, folder in enumerate(folders):
        recipe = load_recipe(toy / "toy.toml", ["train.epochs=2", "train.threads=1", *changes])
        train = recipe.train.model_copy(update={"seed": seed})
        folder.mkdir()
        text = write_recipe(recipe.model_copy(update={"train": train}))
        atomic_write(folder / "recipe.toml", text)
    return folders


def workers() -> list[psutil.Process]:
    """Return the worker processes of this one, without Python's resource tracker."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "resource_tracker" not in " ".join(child.cmdline())]


@pytest.mark.long
def test_parallel_workers_give_the_results_of_one_process(toy: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    told: list[Event] = []
    here, spread = laid_out(toy, tmp_path / "one", 3), laid_out(toy, tmp_path / "many", 3)
    assert run_in_process([[each] for each in here], Preparations(), lambda event: None, keep=NOTHING)
    assert run_in_parallel([[each] for each in spread], told.append, jobs=2, keep=NOTHING)
    assert {event.folder for event in told if isinstance(event, Ended)} == set(spread)
    for one, other in zip(here, spread, strict=True):
        first, second = read_outcome(one), read_outcome(other)
        assert isinstance(first, CellScores)
        assert isinstance(second, CellScores)
        assert first.curve == second.curve
        assert first.tally.counts.tolist() == second.tally.counts.tolist()
    assert not workers()


@pytest.mark.long
def test_a_killed_worker_is_reported_and_the_others_save(toy: Path, tmp_path: Path) -> None:
    """The kernel may kill a worker that uses too much memory; the comparison must not wait for it."""
    folders = laid_out(toy, tmp_path, 2, "train.epochs=5000", "train.patience=5000")
    seen: set[Path] = set()

    def kill_one(event: Event) -> None:
        if isinstance(event, Advanced):
            seen.add(event.folder)
            if len(seen) == 2:
                os.kill(workers()[0].pid, signal.SIGKILL)
                seen.clear()

    with pytest.raises(GonieError, match=r"ended by signal 9.*--resume and fewer --jobs"):
        run_in_parallel([[each] for each in folders], kill_one, jobs=2, keep=NOTHING)
    assert not workers()
    assert any((folder / "last.safetensors").exists() for folder in folders)
    for folder in folders:
        with lock_run(folder):
            assert read_outcome(folder) is None


@pytest.mark.long
def test_a_locked_cell_folder_stops_the_comparison(toy: Path, tmp_path: Path) -> None:
    folders = laid_out(toy, tmp_path, 2, "train.epochs=5000", "train.patience=5000")
    with lock_run(folders[1]), pytest.raises(GonieError, match="another process"):
        run_in_parallel([[each] for each in folders], lambda event: None, jobs=2, keep=NOTHING)
    assert not workers()


# --- a worker, in this process ---------------------------------------------------------------------------


def test_a_worker_trains_the_given_folders_in_order(toy: Path, tmp_path: Path) -> None:
    folders = laid_out(toy, tmp_path, 2)
    told: list[Event] = []
    assert start_cells(told.append, NOTHING, "en")(folders)
    began, ended = ([each.folder for each in told if isinstance(each, kind)] for kind in (Began, Ended))
    assert began == ended == folders
    assert told[-1] == Ended(folders[1])
