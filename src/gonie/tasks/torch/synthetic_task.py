"""A small instance of what a recipe trains, from made-up text: for checks that must not need its files."""

from __future__ import annotations

from typing import Any

from gonie.tasks.classification.torch.synthetic import make_text_specimen
from gonie.tasks.recipe import Recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.synthetic import make_tag_specimen
from gonie.tasks.torch.synthetic import Specimen


def make_specimen(recipe: Recipe) -> Specimen[Any, Any]:
    """The specimen of a recipe, whose files need not be there; its seed decides on text and weights."""
    return make_tag_specimen(recipe) if isinstance(recipe, TagRecipe) else make_text_specimen(recipe)
