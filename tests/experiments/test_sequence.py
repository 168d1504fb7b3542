"""Tests domains learned one after another: the steps, the matrix, resuming and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.experiments.compare import resume_comparison, start_comparison
from gonie.experiments.outcome import read_outcome
from gonie.experiments.plan import ComparisonPlan, ComparisonRequest
from gonie.experiments.sequence import SequenceComparison
from gonie.experiments.sequence_tables import markdown, tsv
from gonie.tasks.recipe import load_recipe
from support.growing_types import write_files

FILES = {"a": ("PER",), "b": ("LOC",)}


class Silence:
    """A display that stops after some runs, if asked to."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.sequences: list[SequenceComparison] = []
        self._left = stop_after

    def event(self, event: object, outcome: object = None) -> None:
        if outcome is not None and self._left is not None:
            self._left -= 1
            if not self._left:
                raise RuntimeError("killed")

    def finished_sequence(self, comparison: SequenceComparison, folder: Path) -> None:
        self.sequences.append(comparison)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: None


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("domains")
    write_files(folder, FILES, epochs=8)
    return folder


def changes(files: Path, *more: str) -> tuple[str, ...]:
    named = [f"data.{split}.{name}={files / name}.conll" for split in ("train", "dev") for name in FILES]
    return (*named, "train.score_train=0", *more)


def request(files: Path, *more: str, seeds: int = 1) -> ComparisonRequest:
    return ComparisonRequest((str(files / "a.toml"),), changes(files, *more), seeds, in_sequence=True)


def test_each_step_starts_from_the_one_before(files: Path, tmp_path: Path) -> None:
    wanted = request(files, "train.replay=0,30", "loss.distill.weight=1")
    found = start_comparison(wanted, tmp_path / "out", Silence(), jobs=1)  # type: ignore[arg-type]
    assert isinstance(found, SequenceComparison)
    assert not found.failures
    assert found.domains == ("a", "b")
    cells = tmp_path / "out" / "cells"
    first, second = (load_recipe(cells / f"2_replay=30_seed=1_step={n}" / "recipe.toml") for n in (1, 2))
    assert (first.train.start, first.train.replay, first.loss) == (None, 0, {})
    assert second.train.start == str((cells / "2_replay=30_seed=1_step=1").absolute())
    assert (second.train.replay, list(second.loss)) == (30, ["distill"])
    assert list(second.data.train) == list(second.data.dev) == ["b"]
    assert list(second.data.test) == ["a", "b"]
    assert not list(cells.glob("*/best.safetensors")), "weights are deleted at the end"
    matrix = found.rows[1].mean
    assert matrix is not None
    assert matrix.scores[0][0] > 0.95
    assert matrix.scores[0][1] == 0.0, "the first model has no places"
    assert min(matrix.scores[1]) > 0.9, "people are kept by distillation and replay"
    saved = json.loads((tmp_path / "out" / "results.json").read_bytes())
    assert saved["cells"][1]["mean"]["scores"][1] == list(matrix.scores[1])
    assert "| a | " in markdown(found)
    assert "average forgetting" in (tmp_path / "out" / "table.md").read_text("utf-8")
    assert len(tsv(found).splitlines()) == 1 + 2 * 4


def test_a_killed_sequence_resumes_to_the_same_scores(files: Path, tmp_path: Path) -> None:
    wanted = request(files, "loss.distill.weight=1")
    whole = start_comparison(wanted, tmp_path / "whole", Silence(), jobs=1)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="killed"):
        start_comparison(wanted, tmp_path / "broken", Silence(1), jobs=1)  # type: ignore[arg-type]
    plan = ComparisonPlan.read(tmp_path / "broken")
    cells = [tmp_path / "broken" / "cells" / each.folder for each in plan.runs]
    assert [read_outcome(cell) is not None for cell in cells] == [True, False]
    resumed = resume_comparison(tmp_path / "broken", Silence(), jobs=1)  # type: ignore[arg-type]
    assert isinstance(whole, SequenceComparison)
    assert isinstance(resumed, SequenceComparison)
    assert resumed.rows[0].mean == whole.rows[0].mean


@pytest.mark.long
def test_chains_run_in_parallel(files: Path, tmp_path: Path) -> None:
    wanted = request(files, "train.epochs=2", seeds=2)
    found = start_comparison(wanted, tmp_path / "out", Silence(), jobs=2)  # type: ignore[arg-type]
    assert isinstance(found, SequenceComparison)
    assert len(found.rows[0].matrices) == 2


def test_a_failed_step_fails_its_chain(files: Path, tmp_path: Path) -> None:
    wanted = request(files, "model.head.weights.PER=2.0", "train.epochs=1")  # refuses kept types
    found = start_comparison(wanted, tmp_path / "out", Silence(), jobs=1)  # type: ignore[arg-type]
    assert isinstance(found, SequenceComparison)
    assert found.failures == 1
    assert found.rows[0].mean is None
    assert "Failed:" in markdown(found)


def test_domains_must_be_named_and_have_held_out_files(files: Path, tmp_path: Path) -> None:
    recipe = str(files / "a.toml")
    alone = ComparisonRequest((recipe,), (), 1, in_sequence=True)
    with pytest.raises(RecipeError, match="--in-sequence needs the same two or more named training files"):
        start_comparison(alone, tmp_path / "out", Silence())  # type: ignore[arg-type]
    named = tuple(f"data.train.{name}={files / name}.conll" for name in FILES)
    bare = ComparisonRequest((recipe,), (*named, f"data.test.a={files / 'a.conll'}"), 1, in_sequence=True)
    with pytest.raises(RecipeError, match=r"missing: b; for example, --set data\.test\.b=FILE"):
        start_comparison(bare, tmp_path / "out", Silence())  # type: ignore[arg-type]
