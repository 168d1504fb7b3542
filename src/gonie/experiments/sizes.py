"""Comparisons over training sizes: the sizes, and what is checked before training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gonie.errors import GonieError, RecipeError
from gonie.experiments.existing_models import held_out_files, try_model
from gonie.experiments.grid import ALL, SIZE, Grid, GridCell
from gonie.experiments.grid import RECIPE as RECIPES
from gonie.experiments.line import read_model
from gonie.experiments.plan import ComparisonRequest
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.example_batches import batch_size
from gonie.text.report import count

SAME = ("train", "dev", "test", "leave_out", "holdout")
"""Keys of ``data`` that all recipes of a comparison over sizes must have in common."""

FEW_STEPS = 300
"""Fewer gradient steps are warned of."""


def check_request(request: ComparisonRequest) -> None:
    """Refuse options that do not go together with training sizes."""
    if not request.sizes:
        if request.models:
            place = read_model(request.models[0]).place
            raise GonieError(
                f"{place} is a model, not a recipe. To draw it beside recipes, add --sizes 100,all"
            )
        return
    if request.folds or request.in_sequence:
        other = "--folds" if request.folds else "--in-sequence"
        raise GonieError(f"--sizes cannot be combined with {other}. Remove one of them.")


def refuse_models_alone(models: Sequence[str]) -> None:
    """Refuse models without a recipe to train."""
    if models:
        place = read_model(models[0]).place
        raise GonieError(
            f"{place} is a model, and there is no recipe to train. "
            f"For example: gonie compare ner {place} --sizes 100,all"
        )


def read_sizes(text: str) -> tuple[str, ...]:
    """Return the sizes of ``20,100,all`` in ascending order."""
    values = [value.strip() for value in text.split(",")]
    for value in values:
        if value != ALL and (not (value.isascii() and value.isdecimal()) or int(value) == 0):
            raise GonieError(
                f"invalid training size: {value!r}. Use whole numbers and all, such as 20,100,all"
            )
    found = sorted({str(int(value)) for value in values if value != ALL}, key=int)
    found += [ALL] if ALL in values else []
    if len(found) < 2 or len(found) < len(values):
        raise GonieError(f"--sizes needs two or more different sizes, such as 20,100,all; got {text}")
    return tuple(found)


def check_recipes(grid: Grid, recipes: Sequence[CorpusRecipe]) -> None:
    """Refuse recipes that would not be trained and scored on the same examples."""
    problems = []
    first = recipes[0]
    for cell, recipe in zip(grid.cells[1:], recipes[1:], strict=True):
        if recipe.task != first.task:
            own, other = TASKS[first.task].model, TASKS[recipe.task].model
            problems.append(
                f"--sizes compares models of one task: {grid.cells[0].recipe} trains a {own}, "
                f"{cell.recipe} a {other}"
            )
        elif differ := list(_differences(first, recipe)):
            problems.append(
                f"--sizes needs the same examples for every recipe, but {', '.join(differ)} of {cell.recipe} "
                f"is not that of {grid.cells[0].recipe}; set it for all of them with --set"
            )
    if first.data.leave_out is not None:
        problems.append("--sizes cannot be combined with data.leave_out; remove it")
    if problems:
        raise RecipeError(list(dict.fromkeys(problems)), source="compare")


def _differences(one: CorpusRecipe, other: CorpusRecipe) -> Iterator[str]:
    """Yield the keys by which two recipes would have different examples."""
    yield from (f"data.{key}" for key in SAME if getattr(one.data, key) != getattr(other.data, key))
    if one.train.seed != other.train.seed:
        yield "train.seed"


def check_models(request: ComparisonRequest, recipe: CorpusRecipe) -> None:
    """Refuse models that cannot be loaded or reached, or are of another task than the recipes."""
    models = [read_model(argument) for argument in request.models]
    names = [line_name(request.grid, cell) for cell in request.grid.cells]
    for model in models:
        if model.name in names or [each.name for each in models].count(model.name) > 1:
            raise GonieError(f"two models have the name {model.name}. Name them: NAME=MODEL")
        held_out_files(recipe)
        try_model(model, recipe)


def check_total(sizes: Sequence[str], labelled: int, noun: str) -> None:
    """Refuse a size that is that of all examples, of which there are ``labelled``."""
    if ALL in sizes and (too_large := [size for size in sizes if size != ALL and int(size) >= labelled]):
        raise GonieError(
            f"--sizes {','.join(sizes)}: there are {labelled:,} {noun} to train on, so {too_large[0]} is as "
            f"many as all or more. Remove {', '.join(too_large)}"
        )


def few_steps(sizes: Sequence[str], recipe: CorpusRecipe) -> str:
    """Return a warning if the smallest size has few gradient steps, otherwise an empty text."""
    train = recipe.train
    if not sizes or sizes[0] == ALL:
        return ""
    steps = train.epochs * math.ceil(int(sizes[0]) / batch_size(train, int(sizes[0])))
    if steps >= FEW_STEPS:
        return ""
    return (
        f"warning: the smallest size has only about {count(steps, 'gradient step')} (train.epochs = "
        f"{train.epochs}), which may be too few for a model that is trained from scratch; for more, "
        "--set train.epochs=N"
    )


def line_name(grid: Grid, cell: GridCell) -> str:
    """Return the name of the line of a cell: its recipe, if it has a name or others, and its other values."""
    named = [(axis, value) for axis, value in zip(grid.axes, cell.values, strict=True) if axis.key != SIZE]
    swept = [f"{axis.label}={value}" for axis, value in named if axis.key != RECIPES]
    own = [cell.name] if len(swept) < len(named) or not swept else []
    return " ".join([*own, *swept])
