"""A specimen of whatever a recipe trains."""

from __future__ import annotations

import pytest

from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.recipe import load_recipe, recipe_names, recipe_types
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.prepare import synthetic


@pytest.mark.parametrize("name", recipe_names(*recipe_types("train")))
def test_it_is_the_model_of_the_recipes_task(name: str) -> None:
    recipe = load_recipe(name, absent={"data.train": "not-there"})
    specimen = synthetic(recipe)
    assert isinstance(specimen.model, ClassifyingNetwork if recipe.task == "classify" else TaggingNetwork)
    assert specimen.loss(specimen.model, specimen.batch).isfinite()
