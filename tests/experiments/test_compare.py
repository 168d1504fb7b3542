"""Tests comparisons: one that is killed or stopped and then resumed gives the same results.

The tests use real processes, workers and signals, on a corpus small enough to train in a second.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from gonie.errors import GonieError, OutputError, ResumeError
from gonie.experiments.cell import Began, Ended, Event, Note
from gonie.experiments.compare import REPORTS, resume_comparison, start_comparison
from gonie.experiments.comparison import Comparison
from gonie.experiments.outcome import CellScores, Failure, Outcome, read_outcome
from gonie.experiments.plan import ComparisonPlan, ComparisonRequest
from gonie.metrics.significance import Tally, randomization_test
from gonie.tasks.recipe import load_recipe

PATIENCE = 300
"""Seconds before a child process is considered to hang; a busy machine is slow."""

GRID = ("model.encoder.hidden=4,6", "train.lr=0.01,0.03", "train.epochs=24", "train.patience=24")
UNTIMED = {"seconds", "cost"}


class Silence:
    """A display that shows nothing and records what it receives."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.outcomes: list[Outcome] = []
        self.begun: tuple[int, int] | None = None
        self.stopped = self.done = 0

    def begin(self, plan: ComparisonPlan, *, done: int, jobs: int) -> None:
        self.begun = (done, jobs)

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        self.events.append(event)
        self.outcomes += [outcome] if outcome else []

    def tested(self, number: int, rows: int) -> None: ...

    def interrupted(self, folder: Path) -> None:
        self.stopped += 1

    def finished(self, comparison: Comparison, folder: Path) -> None:
        self.done += 1

    def folders(self, kind: type) -> list[str]:
        return [event.folder.name for event in self.events if isinstance(event, kind)]


class StopsInside(Silence):
    """A display that sends SIGINT in the middle of run number ``at``, counted from 1."""

    def __init__(self, *, at: int) -> None:
        super().__init__()
        self._at = at

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        super().event(event, outcome)
        if len(self.folders(Began)) == self._at and not isinstance(event, Began | Note):
            self._at = 0
            os.kill(os.getpid(), signal.SIGINT)


def asked(toy: Path, *changes: str, seeds: int = 1) -> ComparisonRequest:
    return ComparisonRequest((str(toy / "toy.toml"),), changes, seeds)


def timeless(value: Any) -> Any:
    """Return results without durations."""
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key not in UNTIMED}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def results(folder: Path) -> Any:
    return timeless(json.loads((folder / "results.json").read_text("utf-8")))


def command(toy: Path, folder: Path) -> list[str]:
    settings = [part for change in GRID for part in ("--set", change)]
    return ["compare", str(toy / "toy.toml"), *settings, "--out", str(folder), "--jobs", "2"]


@contextmanager
def launched(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run the command in its own process group, like a terminal, and kill it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gonie", *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(process: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def alive(process: psutil.Process) -> bool:
    """Return whether a process is running; a zombie does not count."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def cells_with(folder: Path, name: str) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"cells/*/{name}"))


def in_the_middle(folder: Path) -> bool:
    """Return whether one cell is finished and another one has a checkpoint."""
    done, begun = cells_with(folder, "result.json"), cells_with(folder, "last.safetensors")
    return bool(done) and bool(set(begun) - set(done))


@pytest.fixture(scope="module")
def unbroken(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the results of an uninterrupted comparison in this process."""
    folder = tmp_path_factory.mktemp("unbroken") / "c"
    assert start_comparison(asked(toy, *GRID), folder, Silence(), jobs=1)
    found = results(folder)
    curves = {json.dumps(cell["runs"][0]["curve"]) for cell in found["cells"]}
    assert len(curves) == 4, "sameness must mean something"
    return found


@pytest.mark.long
def test_a_killed_and_resumed_comparison_equals_an_unbroken_one(
    toy: Path, tmp_path: Path, unbroken: Any
) -> None:
    """Finished cells are not run again, and an unfinished cell continues from its checkpoint."""
    folder = tmp_path / "c"
    with launched(command(toy, folder)) as process:
        wait_for(process, lambda: in_the_middle(folder))
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert len(workers) >= 2
    deadline = time.monotonic() + PATIENCE
    while any(alive(worker) for worker in workers):  # they end with their parent process
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not (folder / "results.json").exists()
    before = {path: path.read_bytes() for path in folder.glob("cells/*/result.json")}
    half = {
        path: path.read_text("utf-8").splitlines()
        for path in folder.glob("cells/*/metrics.jsonl")
        if not (path.parent / "result.json").exists()
    }
    display = Silence()
    assert resume_comparison(folder, display, jobs=2)
    assert display.begun == (len(before), 2)
    assert not {path.parent.name for path in before} & set(display.folders(Began))
    assert {path: path.read_bytes() for path in before} == before
    for path, lines in half.items():
        kept = path.read_text("utf-8").splitlines()[
            : len(lines) - 1
        ]  # the checkpoint may lack the last epoch
        assert kept == lines[:-1], "an epoch done before the kill, with its seconds, was not done again"
    assert results(folder) == unbroken
    assert not list(folder.rglob("*.safetensors")) + list(folder.rglob("*.tmp"))


@pytest.mark.long
@pytest.mark.parametrize("everyone", [True, False], ids=["terminal", "parent alone"])
def test_ctrl_c_saves_a_comparison_that_can_be_resumed(
    toy: Path, tmp_path: Path, unbroken: Any, everyone: bool
) -> None:
    """Ctrl-C signals all processes of a terminal, `kill` only one; both save and print how to resume."""
    folder = tmp_path / "a folder"
    with launched(command(toy, folder)) as process:
        wait_for(process, lambda: in_the_middle(folder))
        (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
        printed, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, complaints
    assert not complaints
    (line,) = re.findall(r"^ +gonie (compare .*--resume)$", printed, re.MULTILINE)
    assert shlex.split(line) == ["compare", "--out", str(folder), "--resume"]
    begun = set(cells_with(folder, "metrics.jsonl")) - set(cells_with(folder, "result.json"))
    assert begun <= set(cells_with(folder, "last.safetensors")), "cells at work have saved where they stand"
    assert resume_comparison(folder, Silence(), jobs=1)
    assert results(folder) == unbroken


def test_a_comparison_without_workers_can_be_stopped_and_resumed(toy: Path, tmp_path: Path) -> None:
    folder, grid = tmp_path / "c", asked(toy, "train.lr=0.01,0.03", "train.epochs=4")
    assert start_comparison(grid, tmp_path / "unbroken", Silence(), jobs=1)
    display = StopsInside(at=2)
    assert start_comparison(grid, folder, display, jobs=1) is None
    assert display.stopped == 1
    assert len(display.folders(Ended)) == 1
    assert not (folder / "table.md").exists()
    assert resume_comparison(folder, Silence(), jobs=1)
    assert results(folder) == results(tmp_path / "unbroken")


# --- output folder ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a comparison with two seeds and a cell that diverges."""
    folder = tmp_path_factory.mktemp("small") / "c"
    changes = ("train.lr=0.02,1e30", "train.optimizer=sgd", "train.clip=0", "train.epochs=2")
    display = Silence()
    found = start_comparison(asked(toy, *changes, seeds=2), folder, display, jobs=1)
    assert found is not None
    assert found.failures == 2
    assert [type(outcome) for outcome in display.outcomes] == [CellScores, CellScores, Failure, Failure]
    assert display.done == 1
    return folder


def test_a_failed_cell_is_in_the_table_and_the_others_finish(small: Path) -> None:
    table = (small / "table.md").read_text("utf-8")
    assert "| 1e30 | – |" in table
    assert table.count("the loss became") == 2
    cells = json.loads((small / "results.json").read_text("utf-8"))["cells"]
    assert [cell["best"] for cell in cells] == [True, False]
    assert cells[0]["dev"]["sd"] is not None


def test_the_folder_has_every_report_and_no_weights(small: Path) -> None:
    assert {path.name for path in small.iterdir()} == {*REPORTS, "compare.json", "cells"}
    assert not list(small.rglob("*.safetensors"))


def test_failed_runs_are_not_repeated_on_resume(small: Path) -> None:
    display = Silence()
    assert resume_comparison(small, display, jobs=1)
    assert display.begun == (4, 1)
    assert not display.folders(Began)


def test_letters_without_a_font_are_noted_before_the_end(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gonie.experiments.figure.find_fonts", lambda texts: (["DejaVu Sans"], "한국어"))
    display = Silence()
    assert resume_comparison(small, display, jobs=1)
    (note,) = (event.text for event in display.events if isinstance(event, Note))
    assert "3 characters" in note
    assert "fonts-nanum" in note


def test_leftover_weights_of_a_finished_run_are_deleted(small: Path) -> None:
    weights = small / "cells" / ComparisonPlan.read(small).runs[0].folder / "best.safetensors"
    weights.write_bytes(b"left")
    assert resume_comparison(small, Silence(), jobs=1)
    assert not weights.exists()


def test_a_cell_with_kept_weights_can_be_exported(toy: Path, tmp_path: Path, silence: Any) -> None:
    from gonie.training.run import resume_run

    folder = tmp_path / "c"
    assert start_comparison(asked(toy, "train.epochs=3"), folder, Silence(), jobs=1, keep=True)
    (cell,) = (folder / "cells").iterdir()
    found = read_outcome(cell)
    assert isinstance(found, CellScores)
    result = resume_run(cell, silence)
    assert result is not None
    assert result.evaluations["dev"].headline[1] == pytest.approx(found.dev)
    assert (cell / "bundle").is_dir()


# --- data ------------------------------------------------------------------------------------------------


def test_cells_that_share_data_read_it_once(toy: Path, tmp_path: Path) -> None:
    """Cells with the same data run one after another, but results keep the requested order."""
    changes = ("train.lr=0.02,0.03", "data.lowercase=true,false", "train.epochs=1")
    display = Silence()
    assert start_comparison(asked(toy, *changes), tmp_path / "c", display, jobs=1)
    notes = [event.text for event in display.events if isinstance(event, Note)]
    assert sum(note.startswith(f"{toy}/train.conll") for note in notes) == 2
    assert [name[0] for name in display.folders(Began)] == ["1", "3", "2", "4"]
    cells = results(tmp_path / "c")["cells"]
    assert [cell["values"] for cell in cells] == [
        ["0.02", "true"],
        ["0.02", "false"],
        ["0.03", "true"],
        ["0.03", "false"],
    ]


def test_sentences_held_out_by_seed_can_be_compared(toy: Path, tmp_path: Path) -> None:
    changes = ("data.dev=none", "data.test=none", "data.holdout=0.3", "train.lr=0.001,0.03", "train.epochs=3")
    found = start_comparison(asked(toy, *changes, seeds=2), tmp_path / "c", Silence(), jobs=1)
    assert found is not None
    assert found.tested_on == "dev"
    data = {scores.tally.data for row in found.rows for scores in row.scores}
    assert len(data) == 2, "each seed holds out its own"
    assert [row.p is not None for row in found.rows] == [not row.best for row in found.rows]


def test_taggers_with_auxiliary_heads_are_compared_by_the_main_one(toy: Path, tmp_path: Path) -> None:
    head = (f"heads.other.train={toy}/dev.conll", "heads.other.weight=0.1,1")
    found = start_comparison(asked(toy, *head, "train.epochs=1"), tmp_path / "c", Silence(), jobs=1)
    assert found is not None
    assert [row.values for row in found.rows] == [("0.1",), ("1",)]
    assert not list((tmp_path / "c").rglob("heads"))


# --- folds -----------------------------------------------------------------------------------------------

FOLDED = ("data.test=none", "train.epochs=1", "train.lr=0.001,0.03")


def folded(text_toy: Path) -> ComparisonRequest:
    return ComparisonRequest((str(text_toy / "texts.toml"),), FOLDED, seeds=2, folds=3)


@pytest.fixture(scope="module")
def folds(text_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folds") / "c"
    assert start_comparison(folded(text_toy), folder, Silence(), jobs=1)
    return folder


def test_every_cell_is_trained_and_tested_on_every_fold(text_toy: Path, folds: Path) -> None:
    """Each text of the file is a test text once per seed."""
    found = results(folds)
    assert (found["folds"], found["seeds"], found["tested_on"]) == (3, 2, "test")
    for cell in found["cells"]:
        assert [(run["seed"], run["fold"]) for run in cell["runs"]] == [
            (s, f) for s in (1, 2) for f in (1, 2, 3)
        ]
        scores = [run["test"] for run in cell["runs"]]
        assert cell["test"]["mean"] == pytest.approx(statistics.fmean(scores))
        assert cell["test"]["sd"] == pytest.approx(statistics.stdev(scores))
        tallies = [read_outcome(folds / run["folder"]).tally for run in cell["runs"]]  # type: ignore[union-attr]
        assert sum(len(tally.counts) for tally in tallies[:3]) == 60
        assert [tally.data for tally in tallies[:3]] == [tally.data for tally in tallies[3:]]
        assert len({tally.data for tally in tallies}) == 3
    assert [cell["p"] is not None for cell in found["cells"]] == [not cell["best"] for cell in found["cells"]]


def test_the_p_value_of_folds_is_over_all_texts(folds: Path) -> None:
    rows = [
        [read_outcome(folds / run["folder"]).tally for run in cell["runs"]]  # type: ignore[union-attr]
        for cell in results(folds)["cells"]
    ]
    one, other = (
        Tally("all", np.concatenate([row[fold].counts + row[fold + 3].counts for fold in range(3)]))
        for row in rows
    )
    assert len(one.counts) == 60
    (p,) = [cell["p"] for cell in results(folds)["cells"] if not cell["best"]]
    worse, best = (one, other) if results(folds)["cells"][1]["best"] else (other, one)
    assert p == pytest.approx(randomization_test(worse, best))


def test_tables_show_the_number_of_folds(folds: Path) -> None:
    page = (folds / "table.md").read_text("utf-8")
    assert "mean ± standard deviation over 3 folds and 2 seeds" in page
    assert "on the test data of all folds" in page
    names, *rows = (line.split("\t") for line in (folds / "table.tsv").read_text("utf-8").splitlines())
    for row in rows:
        told = dict(zip(names, row, strict=True))
        assert (told["seeds"], told["folds"], told["failed"]) == ("2", "3", "0")


def test_a_comparison_with_folds_can_be_stopped_and_resumed(
    text_toy: Path, folds: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    assert start_comparison(folded(text_toy), folder, StopsInside(at=5), jobs=1) is None
    assert 0 < len(list(folder.glob("cells/*/result.json"))) < 12
    with pytest.raises(ResumeError, match="options differ"):
        resume_comparison(folder, Silence(), folds=4)
    assert resume_comparison(folder, Silence(), folds=3, jobs=1)
    assert results(folder) == results(folds)


# --- text pairs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "metric"), [("labels", "accuracy"), ("values", "Pearson")])
def test_pair_models_are_compared_by_accuracy_or_correlation(
    kind: str, metric: str, pair_toy: Path, tmp_path: Path
) -> None:
    question = ComparisonRequest((str(pair_toy / f"{kind}.toml"),), ("train.lr=0.0001,0.05",), seeds=2)
    assert start_comparison(question, tmp_path / "c", Silence(), jobs=1)
    found = results(tmp_path / "c")
    assert metric in (tmp_path / "c" / "table.md").read_text("utf-8")
    one, other = found["cells"]
    assert (one["best"], other["best"]) == (False, True), "a model that hardly learns is not the best"
    assert other["dev"]["mean"] > one["dev"]["mean"]
    assert 0.0 <= one["p"] <= 1.0


# --- refusals --------------------------------------------------------------------------------------------


def test_an_invalid_data_file_is_refused_without_a_folder(toy: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.conll"
    bad.write_bytes(b"a\tO\nb\0\tO\n")
    with pytest.raises(GonieError, match="NUL"):
        start_comparison(asked(toy, f"data.train={bad}", "train.lr=0.1,0.2"), tmp_path / "c", Silence())
    assert not (tmp_path / "c").exists()


def test_existing_files_are_not_overwritten(toy: Path, tmp_path: Path, small: Path) -> None:
    with pytest.raises(OutputError, match="--resume"):
        start_comparison(asked(toy), small, Silence())
    (tmp_path / "table.md").write_text("mine")
    with pytest.raises(OutputError, match=r"table\.md"):
        start_comparison(asked(toy), tmp_path, Silence())
    with pytest.raises(OutputError, match="is a file, not a folder"):
        start_comparison(asked(toy), tmp_path / "table.md", Silence())
    assert (tmp_path / "table.md").read_text() == "mine"


@pytest.mark.parametrize(
    "again",
    [{"recipes": ["ner"]}, {"changes": ["train.lr=0.1,0.2"]}, {"seeds": 3}, {"keep": True}],
    ids=str,
)
def test_resuming_with_other_options_is_refused(small: Path, again: dict[str, Any]) -> None:
    with pytest.raises(ResumeError, match="options differ"):
        resume_comparison(small, Silence(), **again)


class Stops(Silence):
    """A display that raises ``KeyboardInterrupt`` in the significance tests after training."""

    def tested(self, number: int, rows: int) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_in_the_report_leaves_a_resumable_comparison(small: Path) -> None:
    """The display is told about the interruption, so that users learn that nothing is lost."""
    display = Stops()
    assert resume_comparison(small, display) is None
    assert (display.stopped, display.done) == (1, 0)
    assert resume_comparison(small, Silence()) is not None


def test_resuming_with_the_same_options_is_accepted(toy: Path, small: Path) -> None:
    began = ComparisonPlan.read(small).request
    assert resume_comparison(small, Silence(), recipes=began.recipes, changes=began.changes, seeds=2)


def test_a_data_cache_is_refused_with_several_jobs(toy: Path, tmp_path: Path) -> None:
    changes = (f"data.cache={tmp_path}/cache", "train.lr=0.01,0.02", "train.epochs=1")
    with pytest.raises(GonieError, match=r"cannot be combined with data\.cache"):
        start_comparison(asked(toy, *changes), tmp_path / "c", Silence(), jobs=2)
    display = Silence()
    assert start_comparison(asked(toy, *changes), tmp_path / "c", display)
    assert display.begun == (0, 1)


def test_resuming_works_after_the_recipe_file_is_deleted(toy: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text((toy / "toy.toml").read_text("utf-8").replace("epochs = 12", "epochs = 2"), "utf-8")
    folder = tmp_path / "c"
    assert start_comparison(ComparisonRequest((str(own),), (), 1), folder, Silence(), jobs=1)
    own.unlink()
    assert resume_comparison(folder, Silence(), jobs=1)
    (cell,) = (folder / "cells").iterdir()
    assert load_recipe(cell / "recipe.toml").train.epochs == 2
