"""Read the training data of a recipe."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from gonie.errors import GonieError, RecipeError
from gonie.features.lm_text import TokenisingProgress
from gonie.tasks.sections import CorpusConfig, CorpusRecipe, NoiseConfig, NoisyCorpusConfig, Recipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.example_task import example_task
from gonie.tasks.torch.job import ExampleJob, Job, Note
from gonie.tasks.torch.synthetic import SyntheticModel
from gonie.tasks.torch.task import GradientCheckTask, RunContext
from gonie.tasks.torch.trained import load_start

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
    if isinstance(recipe, CorpusRecipe):
        _refuse_unused_gazetteers(recipe)
        for key, needed in without_effect(recipe):
            note(f"{key} has no effect: {needed}")
    start = load_start(recipe) if isinstance(recipe, CorpusRecipe) else None
    job = TASKS[recipe.task].torch().prepare(recipe, RunContext(note, folder, advance, start))
    _check_size(recipe, job)
    return job


def _check_size(recipe: Recipe, job: Job) -> None:
    """Refuse ``data.size`` if the task has not applied it."""
    size = recipe.data.size if isinstance(recipe, CorpusRecipe) else None
    if size is not None and getattr(job, "labelled", None) != size:
        raise RecipeError([f"data.size does not apply to {TASKS[recipe.task].model}s; remove it"])


def _refuse_unused_gazetteers(recipe: CorpusRecipe) -> None:
    """Refuse gazetteers that no part of the model uses."""
    model = recipe.model
    if not recipe.data.gazetteers or "gazetteer" in model.groups:
        return
    head = getattr(model, "head", None)
    direct = [] if model.sees_tokens else list(getattr(head, "direct", []))
    key = "model.head.direct" if direct else "model.features.groups"
    groups = [*(direct or (model.features.groups if model.features else [])), "gazetteer"]
    setting = shlex.quote(f"{key}={json.dumps(groups)}")
    raise RecipeError(
        [
            "data.gazetteers: the model does not use gazetteer features; add them with "
            f"--set {setting}, or remove the gazetteers with --set 'data.gazetteers={{}}'"
        ]
    )


def without_effect(recipe: CorpusRecipe) -> Iterator[tuple[str, str]]:
    """Yield the data settings of a recipe that change nothing, and what they need.

    Settings of words and features are left out if they are those of ``train.start``.
    """
    data, model, own = recipe.data, recipe.model, recipe.train.start is None
    if own and data.backoff and data.token_unit != "morpheme":
        yield "data.backoff", f"data.unit is {data.token_unit}, and only morphemes are cut into syllables"
    if isinstance(data, NoisyCorpusConfig) and not data.noise.copies and data.noise != NoiseConfig():
        yield "data.noise.kinds", "there are no noisy copies; for example, --set data.noise.copies=1"
    if isinstance(data, NoisyCorpusConfig) and not data.augment.copies:
        for key in sorted(data.augment.model_fields_set - {"copies"}):
            if getattr(data.augment, key) != type(data.augment).model_fields[key].default:
                needed = "there are no augmented copies; for example, --set data.augment.copies=1"
                yield f"data.augment.{key}", needed
    if data.vectors is None and data.vectors_limit is not None:
        yield "data.vectors_limit", "there are no vectors; for example, --set data.vectors=vectors.txt"
    if data.vectors is not None and model.words is None:
        yield "data.vectors", "the model has no word embeddings; for example, --set model.words.width=100"
    if data.correct_typos and model.words is None:
        yield "data.correct_typos", "the model has no word embeddings, and characters keep typing errors"
    if own and "context" not in model.groups:
        unused = "the model has no context features; add context to model.features.groups"
        if data.further_columns:
            yield "data.columns", unused
        for key in ("context_window", "context_grams"):
            if getattr(data, key) != CorpusConfig.model_fields[key].default:
                yield f"data.{key}", unused


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
