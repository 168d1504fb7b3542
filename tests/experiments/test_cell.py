"""Tests one run of a comparison: it records the scores of its best weights, or its failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonie.errors import ResumeError
from gonie.experiments.cell import Advanced, Began, Ended, Event, Keeping, Note, Preparations, run_cell
from gonie.experiments.outcome import CellScores, Failure, read_outcome
from gonie.metrics.evaluation import evaluate
from gonie.system.cost import RunCost
from gonie.system.files import atomic_write
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.checkpoint import load_weights
from gonie.tasks.torch.prepare import prepare
from gonie.tasks.written_recipe import write_recipe
from gonie.training.fit import begin_training
from gonie.training.folder import lock_run


def laid_out(toy: Path, folder: Path, *changes: str) -> Path:
    recipe = load_recipe(toy / "toy.toml", ["train.epochs=3", "train.score_train=30", *changes])
    folder.mkdir()
    atomic_write(folder / "recipe.toml", write_recipe(recipe))
    return folder


def scored(folder: Path) -> CellScores:
    outcome = read_outcome(folder)
    assert isinstance(outcome, CellScores), outcome
    return outcome


def test_the_recorded_scores_are_those_of_the_best_weights(toy: Path, tmp_path: Path) -> None:
    """Loads the best weights and scores them with the full evaluation."""
    folder = laid_out(toy, tmp_path / "cell")
    assert run_cell(folder, Preparations(), lambda event: None, keep=Keeping(weights=True))
    found = scored(folder)
    recipe = load_recipe(folder / "recipe.toml")
    job = prepare(recipe, lambda text: None)
    assert isinstance(job, TagJob)
    prepared, model = job.data, begin_training(job).model
    assert isinstance(model, TaggingNetwork)
    load_weights(folder / "best.safetensors", model)
    splits = {"dev": prepared.dev, "train": prepared.sample, "test": prepared.test or []}
    for split, sentences in splits.items():
        tags = [tagging.tags for tagging in job.predictor(model).tag_sentences(sentences)]
        whole = evaluate(sentences, tags, scheme=prepared.encoding.scheme, bootstrap=0)
        assert getattr(found, split) == pytest.approx(whole.headline[1]), split
    assert found.dev == max(point.dev for point in found.curve) == found.curve[found.best_epoch - 1].dev
    assert [point.epoch for point in found.curve] == [1, 2, 3]
    assert found.tally.counts.shape == (20, 3)
    assert found.metric == "F1"


def test_without_a_test_file_the_tally_is_on_dev(toy: Path, tmp_path: Path) -> None:
    folder = laid_out(toy, tmp_path / "cell", "data.test=none", "train.score_train=0")
    assert run_cell(folder, Preparations(), lambda event: None)
    found = scored(folder)
    assert (found.test, found.train) == (None, None)
    assert found.tally.f1 == pytest.approx(found.dev)


@pytest.mark.parametrize("keep", [True, False])
def test_weights_are_kept_only_on_request(toy: Path, tmp_path: Path, keep: bool) -> None:
    """Otherwise a sweep of hundreds of runs would fill the disk."""
    folder = laid_out(toy, tmp_path / "cell", "train.epochs=1")
    assert run_cell(folder, Preparations(), lambda event: None, keep=Keeping(weights=keep))
    names = {path.name for path in folder.iterdir()}
    weights = {"last.safetensors", "best.safetensors"}
    start = {"encoding.json", "network.json", "seen.json"}  # so that other runs can start from it
    assert names == {"recipe.toml", "metrics.jsonl", "cost.json", "result.json"} | (
        weights | start if keep else set()
    )


def test_each_cell_of_a_process_reports_its_own_cost(toy: Path, tmp_path: Path) -> None:
    preparations = Preparations()
    costs = []
    for name, epochs in (("long", 12), ("short", 1)):
        folder = laid_out(toy, tmp_path / name, f"train.epochs={epochs}")
        assert run_cell(folder, preparations, lambda event: None)
        costs.append(scored(folder).cost)
        assert costs[-1] == RunCost.from_json(json.loads((folder / "cost.json").read_bytes()))
    long, short = costs
    assert long is not None
    assert short is not None
    assert 0 < short.training_seconds < long.training_seconds
    assert short.scoring_seconds > 0
    assert short.preparing_seconds < long.preparing_seconds, "the data was already read"


def test_a_cell_reports_its_progress(toy: Path, tmp_path: Path) -> None:
    folder = laid_out(toy, tmp_path / "cell")
    told: list[Event] = []
    assert run_cell(folder, Preparations(), told.append)
    assert told[0] == Began(folder)
    assert told[-1] == Ended(folder)
    assert any(isinstance(event, Note) and "80 sentences" in event.text for event in told)
    ends = [event for event in told if isinstance(event, Advanced) and event.share == 1.0]
    assert [(event.epoch, event.epochs) for event in ends] == [(1, 3), (2, 3), (3, 3)]
    assert ends[-1].score == scored(folder).curve[-1].dev


def test_a_diverging_loss_is_recorded_as_a_failure(toy: Path, tmp_path: Path) -> None:
    changes = ("train.optimizer=sgd", "train.lr=1e30", "train.clip=0")
    folder = laid_out(toy, tmp_path / "cell", *changes)
    assert run_cell(folder, Preparations(), lambda event: None)
    outcome = read_outcome(folder)
    assert isinstance(outcome, Failure)
    assert "the loss became" in outcome.error


def test_a_folder_locked_by_another_process_is_not_a_failure(toy: Path, tmp_path: Path) -> None:
    folder = laid_out(toy, tmp_path / "cell")
    with lock_run(folder), pytest.raises(ResumeError, match="another process"):
        run_cell(folder, Preparations(), lambda event: None)
    assert read_outcome(folder) is None


def test_recipes_with_the_same_data_settings_share_their_data(toy: Path) -> None:
    notes: list[str] = []
    preparations = Preparations()

    def job(*changes: str) -> TagJob:
        found = preparations.get(load_recipe(toy / "toy.toml", changes), notes.append)
        assert isinstance(found, TagJob)
        return found

    first = job()
    assert notes
    before = len(notes)
    again = job("train.lr=0.5")
    assert again.data is first.data
    assert (again.recipe.train.lr, first.recipe.train.lr) == (0.5, 0.02)
    assert len(notes) == before
    other = job("data.lowercase=false")
    assert other.data is not first.data
    assert other.data.encoding.normalization.lowercase is False
