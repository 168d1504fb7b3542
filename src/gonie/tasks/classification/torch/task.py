"""The torch half of classification, as ``gonie.tasks.torch.task`` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.data import read_text_data, read_text_dev, text_data_key
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.synthetic import make_text_specimen as synthetic
from gonie.tasks.torch.job import Note
from gonie.tasks.torch.task import RunContext
from gonie.text.labelled_text import LabelledText

__all__ = ["data_key", "prepare", "read_dev", "synthetic"]


def prepare(recipe: TextRecipe, context: RunContext) -> TextJob:
    """Read, count and encode everything that the recipe names."""
    return TextJob(recipe, read_text_data(recipe, context.note))


def read_dev(recipe: TextRecipe, note: Note) -> Sequence[LabelledText]:
    """Read only the dev texts."""
    return read_text_dev(recipe, note)


def data_key(recipe: TextRecipe) -> str:
    """The part of a recipe that ``prepare`` depends on."""
    return text_data_key(recipe)
