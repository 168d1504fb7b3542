"""From a recipe to its job: each task reads its files in its own way, and is trained in the same one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gonie.tasks.classification.torch.data import read_text_data, read_text_dev, what_texts_read
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.recipe import Recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.data import read_tag_data, read_tag_dev, what_tags_read
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.torch.job import Job
from gonie.tasks.torch.word_data import Note


def prepare(recipe: Recipe, note: Note) -> Job:
    """Read, count and encode everything the recipe names; ``note`` is told what was found on the way."""
    if isinstance(recipe, TagRecipe):
        return TagJob(recipe, read_tag_data(recipe, note))
    return TextJob(recipe, read_text_data(recipe, note))


def read_dev(recipe: Recipe, note: Note) -> Sequence[Any]:
    """The examples that a run of ``recipe`` chooses its epoch by, and nothing else."""
    if isinstance(recipe, TagRecipe):
        return read_tag_dev(recipe, note)
    return read_text_dev(recipe, note)


def what_is_read(recipe: Recipe) -> str:
    """The part of a recipe that ``prepare`` reads, as text: equal texts give equal data."""
    return what_tags_read(recipe) if isinstance(recipe, TagRecipe) else what_texts_read(recipe)
