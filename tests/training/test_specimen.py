"""A specimen of whatever a recipe trains."""

from __future__ import annotations

import pytest

from gonie.models.classifier import Classifier
from gonie.models.recipe import RECIPES, load_recipe, recipe_names
from gonie.models.tagger import Tagger
from gonie.training.specimen import make_specimen


@pytest.mark.parametrize("name", recipe_names(*RECIPES))
def test_it_is_the_model_of_the_recipes_task(name: str) -> None:
    recipe = load_recipe(name, absent={"data.train": "not-there"})
    specimen = make_specimen(recipe)
    assert isinstance(specimen.model, Classifier if recipe.task == "classify" else Tagger)
    assert specimen.loss(specimen.model, specimen.batch).isfinite()
