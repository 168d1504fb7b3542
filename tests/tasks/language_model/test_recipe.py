"""Recipes of language models: invalid settings are refused before any text is read."""

from __future__ import annotations

import pytest

from gonie.errors import RecipeError
from gonie.tasks.recipe import load_recipe

TEXT = 'data.text=["wiki.txt"]'


@pytest.mark.parametrize("name", ["elmo", "elmo-small", "elmo-ko"])
def test_shipped_recipes_load_and_require_text(name: str) -> None:
    assert load_recipe(name, [TEXT], command="pretrain").train.forget > 0, (
        "in use a sentence starts from nothing"
    )
    with pytest.raises(RecipeError, match="--text FILE"):
        load_recipe(name, command="pretrain")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["model.width=64", "model.hidden=64"], r"width must be less than hidden \(64\): 64"),
        (["model.longest=4"], "kernel size 5 is larger than longest"),
        (["model.cell_clip=3"], "cell_clip and state_clip must be set together"),
        (["train.optimizer=per-window"], "per-window is for taggers"),
    ],
)
def test_invalid_recipes_are_refused_with_a_reason(changes: list[str], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        load_recipe("elmo-small", [TEXT, *changes], command="pretrain")


def test_a_clipped_model_may_be_as_wide_as_its_cells() -> None:
    """Published models may have this shape, and the layer with clipping supports it."""
    bounds = ["model.cell_clip=3", "model.state_clip=3"]
    shape = load_recipe(
        "elmo-small", [TEXT, "model.width=64", "model.hidden=64", *bounds], command="pretrain"
    ).model
    assert shape.width == shape.hidden
