"""The torch half of tagging, as ``gonie.tasks.torch.task`` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.data import read_tag_data, read_tag_dev, tag_data_key
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.synthetic import make_tag_specimen as synthetic
from gonie.tasks.torch.job import Note
from gonie.tasks.torch.task import RunContext
from gonie.text.types import Sentence

__all__ = ["data_key", "prepare", "read_dev", "synthetic"]


def prepare(recipe: TagRecipe, context: RunContext) -> TagJob:
    """Read, count and encode everything that the recipe names."""
    return TagJob(recipe, read_tag_data(recipe, context.note))


def read_dev(recipe: TagRecipe, note: Note) -> Sequence[Sentence]:
    """Read only the dev sentences."""
    return read_tag_dev(recipe, note)


def data_key(recipe: TagRecipe) -> str:
    """The part of a recipe that ``prepare`` depends on."""
    return tag_data_key(recipe)
