"""Preparing jobs: the task of the recipe decides how the data is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.pairs.torch.job import PairJob
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.recipe import load_recipe, recipe_names, recipe_types
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.prepare import data_key, prepare, synthetic
from gonie.training.loss_terms.table import build_terms, total_loss

NETWORKS = {"tag": TaggingNetwork, "classify": ClassifyingNetwork, "pair": PairNetwork}


def test_a_recipe_becomes_the_job_of_its_task(toy: Path, text_toy: Path, pair_toy: Path) -> None:
    notes: list[str] = []
    assert isinstance(prepare(load_recipe(toy / "toy.toml"), notes.append), TagJob)
    assert any("80 sentences" in note for note in notes)
    assert isinstance(prepare(load_recipe(text_toy / "texts.toml"), notes.append), TextJob)
    assert any("60 texts" in note for note in notes)
    for kind in ("labels", "values"):
        assert isinstance(prepare(load_recipe(pair_toy / f"{kind}.toml"), notes.append), PairJob)


def test_the_data_key_does_not_depend_on_training_settings(toy: Path, text_toy: Path, pair_toy: Path) -> None:
    paths = (toy / "toy.toml", text_toy / "texts.toml", pair_toy / "labels.toml", pair_toy / "values.toml")
    for path in paths:
        assert data_key(load_recipe(path)) == data_key(load_recipe(path, ["train.lr=0.5"]))
        assert data_key(load_recipe(path)) != data_key(load_recipe(path, ["data.digits=false"]))
    assert len({data_key(load_recipe(path)) for path in paths}) == len(paths)


@pytest.mark.parametrize("name", recipe_names(*recipe_types("train")))
def test_a_synthetic_network_has_the_task_of_the_recipe(name: str) -> None:
    recipe = load_recipe(name, absent={"data.train": "not-there"})
    specimen = synthetic(recipe)
    assert isinstance(specimen.model, NETWORKS[recipe.task])
    terms = build_terms(recipe, examples=specimen.examples)
    assert total_loss(specimen.model, specimen.batch, terms).isfinite()
