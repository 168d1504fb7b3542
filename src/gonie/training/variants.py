"""Variants of a recipe, which are trained after it for comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, cast

from gonie.errors import RecipeError
from gonie.tasks.recipe import check_recipe, is_removal
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.start import resolve_recipe
from gonie.tasks.table import TASKS
from gonie.training.folder import file_name


def build_variants(recipe: Recipe) -> dict[str, CorpusRecipe]:
    """Return the variants as checked recipes, by name."""
    if not isinstance(recipe, CorpusRecipe):
        return {}
    if problems := list(_name_problems(recipe.variants, TASKS[recipe.task].baselines())):
        raise RecipeError(problems)
    return {name: _changed(recipe, name, changes) for name, changes in recipe.variants.items()}


def _name_problems(names: Iterable[str], baselines: Collection[str]) -> Iterator[str]:
    """Yield the problems with names, which must be distinct as folders and from baselines."""
    folders: dict[str, str] = {}
    for name in names:
        folder = file_name(name)
        if name in baselines or not folder:
            yield f"variants: invalid name {name!r}; use letters or digits, and not the name of a baseline"
        elif folder in folders:
            yield f"variants: {folders[folder]!r} and {name!r} would share the folder {folder}; rename one"
        folders.setdefault(folder, name)


def _changed(recipe: CorpusRecipe, name: str, changes: Mapping[str, Any]) -> CorpusRecipe:
    values = recipe.model_dump(mode="json", exclude_none=True)
    del values["variants"]
    values["data"].get("augment", {}).pop("file", None)  # the copies of the run itself
    problems = []
    for key, value in changes.items():
        *parents, last = key.split(".")
        place: Any = values
        for parent in parents:
            place = place.setdefault(parent, {}) if isinstance(place, dict) else None
        if isinstance(place, dict) and is_removal(type(recipe), key, value):
            place.pop(last, None)
        elif isinstance(place, dict):
            place[last] = value
        else:
            problems.append(f"unknown key: {key}")
    values.setdefault("train", {})["baselines"] = False
    changed: CorpusRecipe = check_recipe(values, source=f"variant {name!r}", problems=problems)
    return cast("CorpusRecipe", resolve_recipe(changed, lambda text: None))
