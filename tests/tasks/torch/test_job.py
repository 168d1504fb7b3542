"""The interface of all jobs, which training, comparing and resuming rely on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gonie.export.driver import export_model
from gonie.nn import WordEmbedding
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.job import Job, Split
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training, build_model

Make = Callable[..., Job]
SPLITS: tuple[Split, ...] = ("dev", "test", "sample")


@pytest.fixture(params=["tag", "classify", "pair"])
def make(request: pytest.FixtureRequest, toy: Path, text_toy: Path, pair_toy: Path) -> Make:
    paths = {
        "tag": toy / "toy.toml",
        "classify": text_toy / "texts.toml",
        "pair": pair_toy / "labels.toml",
    }
    path = paths[request.param]
    return lambda *changes: prepare(load_recipe(path, changes), lambda text: None)


def test_splits_are_as_large_as_their_files(make: Make) -> None:
    job = make("train.score_train=9")
    assert [job.size(split) for split in SPLITS] == [20, 20, 9]
    assert make("data.test=none").size("test") == 0
    assert len(job.train) in (60, 80)
    assert sum(job.labels.values()) >= len(job.train)


def test_another_recipe_can_use_the_same_data(make: Make) -> None:
    job = make()
    other = load_recipe_like(job, lr=0.5)
    again = job.with_recipe(other)
    assert again.train is job.train
    assert again.recipe.train.lr == 0.5
    assert again.fingerprint() != job.fingerprint()
    assert again.with_recipe(job.recipe).fingerprint() == job.fingerprint()


def test_with_recipe_uses_the_word_vectors_of_the_new_recipe(make: Make) -> None:
    """A comparison may vary the width although it reads the data only once."""
    job = make("model.words.width=3")
    other = job.with_recipe(make("model.words.width=5").recipe)
    for each, width in ((job, 3), (other, 5)):
        words = next(part for part in build_model(each).modules() if isinstance(part, WordEmbedding))
        assert words.width == width
        assert json.loads(each.files()["network.json"])["words"]["width"] == width


def load_recipe_like(job: Job, **train: object) -> object:
    recipe = job.recipe
    return recipe.model_copy(update={"train": recipe.train.model_copy(update=train)})


def test_the_seed_determines_the_model(make: Make) -> None:
    one, same, other = build_model(make()), build_model(make()), build_model(make("train.seed=2"))
    assert all(map(torch.equal, one.parameters(), same.parameters()))
    assert not all(map(torch.equal, one.parameters(), other.parameters()))


def test_the_files_of_a_run_are_valid_json(make: Make) -> None:
    files = make().files()
    assert "encoding.json" in files
    for name, content in files.items():
        for line in content.splitlines() if name.endswith(".jsonl") else [content]:
            json.loads(line)


def test_the_dev_score_the_tally_and_the_exported_model_agree(make: Make, tmp_path: Path) -> None:
    """The best epoch is chosen by the score that the report shows."""
    job = make()
    session = begin_training(job)
    dev = DevEvaluator(job, session.model, "dev")
    assert 0.0 <= dev.score() <= 1.0
    assert len(dev.tally().counts) == 20
    assert dev.tally().f1 == pytest.approx(dev.score())
    assert export_model(job.exportable(session.model, print), tmp_path / "bundle").difference.value < 1e-3
    examples = job.examples("dev")
    evaluation = job.evaluate(examples, job.predict(tmp_path / "bundle", examples))
    assert evaluation.headline[1] == pytest.approx(dev.score())
    assert evaluation.headline[0].replace("f1", "F1") == dev.metric
    page = job.report(evaluation, title="a title", curve=[], details={}, first={})
    assert "a title" in page


def test_baselines_are_scored_on_every_available_split(make: Make) -> None:
    for changes, splits in (((), {"dev", "test"}), (("data.test=none",), {"dev"})):
        found = [set(baseline.evaluations) for baseline in make(*changes).baselines()]
        assert found
        assert found == [splits] * len(found)
