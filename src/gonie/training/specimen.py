"""A small instance of what a recipe trains, from made-up text: for checks that must not need its files."""

from __future__ import annotations

from typing import Any

from gonie.models.recipe import Recipe
from gonie.models.tag_config import TagRecipe
from gonie.training.made_up import Specimen
from gonie.training.tag_specimen import make_tag_specimen
from gonie.training.text_specimen import make_text_specimen


def make_specimen(recipe: Recipe) -> Specimen[Any, Any]:
    """The specimen of a recipe, whose files need not be there; its seed decides on text and weights."""
    return make_tag_specimen(recipe) if isinstance(recipe, TagRecipe) else make_text_specimen(recipe)
