"""From a recipe to the data that its task trains on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gonie.tasks.sections import Recipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.job import Job
from gonie.tasks.torch.synthetic import Specimen
from gonie.tasks.torch.task import Note


def prepare(recipe: Recipe, note: Note) -> Job:
    """Read, count and encode everything that the recipe names; ``note`` is told what was found."""
    return TASKS[recipe.task].torch().prepare(recipe, note)


def read_dev(recipe: Recipe, note: Note) -> Sequence[Any]:
    """Read only the examples that a run of ``recipe`` chooses its best epoch by."""
    return TASKS[recipe.task].torch().read_dev(recipe, note)


def data_key(recipe: Recipe) -> str:
    """The part of a recipe that ``prepare`` depends on: recipes with equal keys share their data."""
    return TASKS[recipe.task].torch().data_key(recipe)


def synthetic(recipe: Recipe) -> Specimen[Any, Any]:
    """A small network of the recipe's kind with synthetic data; the seed decides on data and weights."""
    return TASKS[recipe.task].torch().synthetic(recipe)
