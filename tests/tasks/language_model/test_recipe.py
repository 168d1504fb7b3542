"""Recipes of language models: what cannot be built is refused before any text is read."""

from __future__ import annotations

import pytest

from gonie.errors import RecipeError
from gonie.tasks.recipe import load_recipe

TEXT = 'data.text=["wiki.txt"]'


@pytest.mark.parametrize("name", ["elmo", "elmo-small", "elmo-ko"])
def test_what_ships_can_be_loaded_and_asks_for_text(name: str) -> None:
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
def test_what_cannot_be_is_refused_with_a_sentence(changes: list[str], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        load_recipe("elmo-small", [TEXT, *changes], command="pretrain")


def test_a_model_with_bounds_may_be_as_wide_as_its_cells() -> None:
    """Published models may be, and are not computed by what cannot do it."""
    bounds = ["model.cell_clip=3", "model.state_clip=3"]
    shape = load_recipe(
        "elmo-small", [TEXT, "model.width=64", "model.hidden=64", *bounds], command="pretrain"
    ).model
    assert shape.width == shape.hidden
