"""Variants of a recipe: models that are trained after it, to be compared with its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from gonie.errors import RecipeError
from gonie.tasks.recipe import check_recipe
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.table import TASKS
from gonie.training.folder import file_name


def build_variants(recipe: Recipe) -> dict[str, CorpusRecipe]:
    """The recipe's variants as recipes of their own, checked before anything is trained."""
    if not isinstance(recipe, CorpusRecipe):
        return {}
    if problems := list(_name_problems(recipe.variants, TASKS[recipe.task].baselines())):
        raise RecipeError(problems)
    return {name: _changed(recipe, name, changes) for name, changes in recipe.variants.items()}


def _name_problems(names: Iterable[str], baselines: Collection[str]) -> Iterator[str]:
    """Each variant has a folder and a line of its own."""
    folders: dict[str, str] = {}
    for name in names:
        folder = file_name(name)
        if name in baselines or not folder:
            yield f"variants: expected a name with letters or digits that no baseline has, got {name!r}"
        elif folder in folders:
            yield f"variants: {folders[folder]!r} and {name!r} would be one folder, {folder}; rename one"
        folders.setdefault(folder, name)


def _changed(recipe: CorpusRecipe, name: str, changes: Mapping[str, Any]) -> CorpusRecipe:
    values = recipe.model_dump(mode="json", exclude_none=True)
    del values["variants"]
    problems = []
    for key, value in changes.items():
        *parents, last = key.split(".")
        place: Any = values
        for parent in parents:
            place = place.setdefault(parent, {}) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place[last] = value
        else:
            problems.append(f"{key} is no key of a recipe")
    values.setdefault("train", {})["baselines"] = False
    changed: CorpusRecipe = check_recipe(values, source=f"variant {name!r}", problems=problems)
    return changed
