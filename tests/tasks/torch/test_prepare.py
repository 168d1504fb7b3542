"""Each task is read in its own way, and told apart by its recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.recipe import load_recipe, recipe_names, recipe_types
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.prepare import data_key, prepare, synthetic
from gonie.training.loss_terms.table import build_terms, total_loss


def test_a_recipe_becomes_the_job_of_its_task(toy: Path, text_toy: Path) -> None:
    notes: list[str] = []
    assert isinstance(prepare(load_recipe(toy / "toy.toml"), notes.append), TagJob)
    assert any("80 sentences" in note for note in notes)
    assert isinstance(prepare(load_recipe(text_toy / "texts.toml"), notes.append), TextJob)
    assert any("60 texts" in note for note in notes)


def test_data_key_is_the_same_for_other_ways_to_learn_from_it(toy: Path, text_toy: Path) -> None:
    for path in (toy / "toy.toml", text_toy / "texts.toml"):
        assert data_key(load_recipe(path)) == data_key(load_recipe(path, ["train.lr=0.5"]))
        assert data_key(load_recipe(path)) != data_key(load_recipe(path, ["data.digits=false"]))
    both = {data_key(load_recipe(path)) for path in (toy / "toy.toml", text_toy / "texts.toml")}
    assert len(both) == 2


@pytest.mark.parametrize("name", recipe_names(*recipe_types("train")))
def test_a_synthetic_network_is_of_the_recipes_task(name: str) -> None:
    recipe = load_recipe(name, absent={"data.train": "not-there"})
    specimen = synthetic(recipe)
    assert isinstance(specimen.model, ClassifyingNetwork if recipe.task == "classify" else TaggingNetwork)
    terms = build_terms(recipe, examples=specimen.examples)
    assert total_loss(specimen.model, specimen.batch, terms).isfinite()
