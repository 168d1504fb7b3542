"""Models of a comparison that are not trained here: runs, bundles and in-context models.

They are scored on its test file. A run or a bundle was trained before, on any data, and has one score. It is
a reference, which is not compared by size. An in-context model may show labelled examples with each text: it
is scored at every size, with the training examples of that size to choose from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gonie.errors import GonieError, RecipeError
from gonie.experiments.line import ExistingModel
from gonie.experiments.outcome import CellScores, read_outcome
from gonie.tasks.evaluated_files import EvaluatedFiles, score_files
from gonie.tasks.evaluation import FORMAT
from gonie.tasks.load import load, try_in_context
from gonie.tasks.loaded import LoadedModel, load_model
from gonie.tasks.paths import locate
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.table import TASKS

AGAIN = "Run the same command again with --resume"
Advance = Callable[[int, int], None]
"""Receives how many texts are answered, and how many there are."""


def _silent(done: int, number: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class ModelScore:
    """The score of a model on the test file, and how many seconds it took per text.

    ``labelled`` is the number of labelled examples that it was trained on, if its folder has it.
    """

    metric: str
    score: float
    seconds_per_text: float
    notes: tuple[str, ...] = ()
    labelled: int | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ModelScore:
        """Read the fields of this class."""
        return cls(**{**values, "notes": tuple(values["notes"])})


def open_model(
    model: ExistingModel, recipe: CorpusRecipe, examples: Path | None = None, advance: Advance = _silent
) -> LoadedModel:
    """Load a model and check its task.

    ``examples`` is the file from which an in-context model shows some. ``advance`` receives how many texts it
    has answered.
    """
    found = (
        _open_in_context(model, recipe, examples, advance) if model.in_context else load_model(model.place)
    )
    if found.task.name != recipe.task:
        own, other = TASKS[recipe.task].model, found.task.model
        raise RecipeError([f"{model.name}: {model.place} is a {other}, but the recipes train a {own}"])
    return found


def try_model(model: ExistingModel, recipe: CorpusRecipe) -> None:
    """Check before training that a model can be scored afterwards."""
    if not model.in_context:
        open_model(model, recipe)
        return
    if "shots_from" in model.settings:
        raise GonieError(
            f"{model.name}: --sizes takes the shots from the training examples of each size. "
            "Remove shots_from"
        )
    try_in_context(model.place, task=recipe.task, **{**column_settings(recipe), **model.settings})


def _open_in_context(
    model: ExistingModel, recipe: CorpusRecipe, examples: Path | None, advance: Advance
) -> LoadedModel:
    shown = {} if examples is None else {"shots_from": str(examples)}
    settings: dict[str, Any] = {**column_settings(recipe), **model.settings, **shown}
    opened = load(model.place, task=recipe.task, advance=advance, again=AGAIN, **settings)
    return LoadedModel(TASKS[recipe.task], opened, model.place)


def column_settings(recipe: CorpusRecipe) -> dict[str, str]:
    """Return the settings of columns that a recipe of labelled texts does not leave at their defaults."""
    names = ("text_column", "label_column", "label_separator")
    fields = type(recipe.data).model_fields
    found = {name: getattr(recipe.data, name) for name in names if name in fields}
    return {name: value for name, value in found.items() if value != fields[name].default}


def score_model(
    model: ExistingModel, recipe: CorpusRecipe, examples: Path | None = None, advance: Advance = _silent
) -> ModelScore:
    """Score a model on the test files of a recipe, or on its dev files if there are none."""
    found = open_model(model, recipe, examples, advance)
    files = {name: locate(path) for name, path in held_out_files(recipe).items()}
    began = time.perf_counter()
    scored: EvaluatedFiles = score_files(
        found.evaluator({}),
        found.model,
        files,
        folder=Path(model.place),
        options={FORMAT: getattr(recipe.data, "format", "auto")},
    )
    seconds = (time.perf_counter() - began) / max(1, len(scored.pooled.predictions))
    name, value = scored.pooled.evaluation.headline
    usage = getattr(found.model, "usage", None)
    notes = [line for file in files.values() for line in found.notes_on(file)]
    notes += usage.lines() if usage else scored.pooled.notes
    return ModelScore(
        name,
        value,
        usage.seconds_per_text if usage else seconds,
        tuple(notes),
        None if model.in_context else labelled_examples(model.place, found.model.recipe),
    )


def labelled_examples(folder: str, recipe: Mapping[str, Any]) -> int | None:
    """Return how many labelled examples a model was trained on: as its recipe or its own comparison says."""
    size: int | None = recipe.get("data", {}).get("size")
    outcome = read_outcome(Path(folder)) if size is None else None
    return outcome.labelled if isinstance(outcome, CellScores) else size


def held_out_files(recipe: CorpusRecipe) -> dict[str, str]:
    """Return the files that models are compared on: those of test, or else of dev."""
    found = recipe.data.files("test") or recipe.data.files("dev")
    if not found:
        raise RecipeError(["existing models are scored on the test file; set data.test=FILE"])
    return found
