"""The torch half of tagging, as ``gonie.tasks.torch.task`` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.data import read_tag_data, read_tag_dev, tag_data_key
from gonie.tasks.tagging.torch.exportable import TagExportable
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.synthetic import make_tag_specimen as synthetic
from gonie.tasks.torch.word_data import Note
from gonie.text.types import Sentence

__all__ = ["data_key", "exportable", "prepare", "read_dev", "synthetic"]


def prepare(recipe: TagRecipe, note: Note) -> TagJob:
    """Read, count and encode everything that the recipe names."""
    return TagJob(recipe, read_tag_data(recipe, note))


def read_dev(recipe: TagRecipe, note: Note) -> Sequence[Sentence]:
    """Read only the dev sentences."""
    return read_tag_dev(recipe, note)


def data_key(recipe: TagRecipe) -> str:
    """The part of a recipe that ``prepare`` depends on."""
    return tag_data_key(recipe)


def exportable(model: TaggingNetwork, bundle: TagBundle, examples: Sequence[Sentence]) -> TagExportable:
    """A trained tagger, what its bundle holds, and held-out sentences."""
    return TagExportable(model, bundle, examples)
