"""From a recipe to the data that its task trains on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

from gonie.errors import GonieError
from gonie.features.lm_text import TokenisingProgress
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.job import ExampleJob, Job, Note
from gonie.tasks.torch.synthetic import Specimen
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
    """Read, count and encode everything that the recipe names; ``note`` is told what was found.

    ``folder`` is that of the run, where a task may keep what it has read; ``advance`` is told how far a long
    text is tokenised.
    """
    return TASKS[recipe.task].torch().prepare(recipe, RunContext(note, folder, advance))


def example_task(name: str) -> ExampleTask:
    """The torch half of a task that learns from labelled examples; any other task is refused."""
    half = TASKS[name].torch()
    if not isinstance(half, ExampleTask):
        raise GonieError(f"a {TASKS[name].model} does not learn from labelled examples")
    return half


def read_dev(recipe: Recipe, note: Note) -> Sequence[Any]:
    """Read only the examples that a run of ``recipe`` chooses its best epoch by."""
    return example_task(recipe.task).read_dev(recipe, note)


def data_key(recipe: Recipe) -> str:
    """The part of a recipe that ``prepare`` depends on: recipes with equal keys share their data."""
    return TASKS[recipe.task].torch().data_key(recipe)


def synthetic(recipe: Recipe) -> Specimen[Any, Any]:
    """A small network of the recipe's kind with synthetic data; the seed decides on data and weights."""
    half = example_task(recipe.task)
    if not isinstance(half, GradientCheckTask):
        raise GonieError(f"gonie check-gradients does not support {TASKS[recipe.task].model}s")
    return half.synthetic(recipe)
