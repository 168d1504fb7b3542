"""Read the training data of a recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

from gonie.errors import GonieError
from gonie.features.lm_text import TokenisingProgress
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.job import ExampleJob, Job, Note
from gonie.tasks.torch.synthetic import SyntheticModel
from gonie.tasks.torch.task import ExampleTask, GradientCheckTask, RunContext

Advance = Callable[[TokenisingProgress], None]


@overload
def prepare(
    recipe: CorpusRecipe, note: Note, *, folder: Path | None = None, advance: Advance | None = None
) -> ExampleJob: ...


@overload
def prepare(
    recipe: Recipe, note: Note, *, folder: Path | None = None, advance: Advance | None = None
) -> Job: ...


def prepare(recipe: Recipe, note: Note, *, folder: Path | None = None, advance: Advance | None = None) -> Job:
    """Read and encode the data of a recipe. ``note`` receives what was found.

    ``folder`` is the run folder, where a task may store what it has read. ``advance`` receives the progress
    of tokenising a long text.
    """
    return TASKS[recipe.task].torch().prepare(recipe, RunContext(note, folder, advance))


def example_task(name: str) -> ExampleTask:
    """Return the torch half of a task over labelled examples. Any other task raises an error."""
    half = TASKS[name].torch()
    if not isinstance(half, ExampleTask):
        raise GonieError(f"a {TASKS[name].model} does not learn from labelled examples")
    return half


def read_dev(recipe: Recipe, note: Note) -> Sequence[Any]:
    """Read only the dev examples of ``recipe``."""
    return example_task(recipe.task).read_dev(recipe, note)


def data_key(recipe: Recipe) -> str:
    """Return the part of a recipe that ``prepare`` depends on. Recipes with equal keys share their data."""
    return TASKS[recipe.task].torch().data_key(recipe)


def synthetic(recipe: Recipe) -> SyntheticModel[Any, Any]:
    """Build a small network of the recipe with synthetic data. The seed determines data and weights."""
    half = example_task(recipe.task)
    if not isinstance(half, GradientCheckTask):
        raise GonieError(f"gonie check-gradients does not support {TASKS[recipe.task].model}s")
    return half.synthetic(recipe)
