"""Whatever is trained is one of the models that code for any of them knows."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from gonie.tasks.recipe import load_recipe, recipe_types
from gonie.tasks.torch.model import Model
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import build_model


def test_every_task_trains_one_of_them(toy: Path, text_toy: Path) -> None:
    recipes = [load_recipe(path) for path in (toy / "toy.toml", text_toy / "texts.toml")]
    assert {recipe.task for recipe in recipes} == set(recipe_types("train"))
    kinds = {type(build_model(prepare(recipe, lambda text: None))) for recipe in recipes}
    assert kinds == set(get_args(Model))
