"""What a run is read beside: models that learn next to nothing, and variants of its own recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gonie.errors import RecipeError
from gonie.tasks.classification.torch.job import MAJORITY
from gonie.tasks.recipe import check_recipe
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.tagging.torch.job import BASELINES
from gonie.tasks.torch.job import Beside, Evaluated
from gonie.training.folder import file_name

MOST_TYPES = 12  # whose scores a line lists


def build_variants(recipe: CorpusRecipe) -> dict[str, CorpusRecipe]:
    """The recipe's variants as recipes of their own, checked before anything is trained."""
    if problems := list(_name_problems(recipe.variants)):
        raise RecipeError(problems)
    return {name: _changed(recipe, name, changes) for name, changes in recipe.variants.items()}


def _name_problems(names: Iterable[str]) -> Iterator[str]:
    """Each variant has a folder and a line of its own."""
    folders: dict[str, str] = {}
    for name in names:
        folder = file_name(name)
        if name in BASELINES or name == MAJORITY or not folder:
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


def as_json(rows: Sequence[Beside]) -> dict[str, object]:
    """The scores by name and split."""
    return {row.name: {split: found.to_json() for split, found in row.evaluations.items()} for row in rows}


def summary(rows: Sequence[Beside]) -> dict[str, str]:
    """A line for each: its score on each split, and that of each type where there are several."""
    return {
        row.name: ", ".join(_line(split, found) for split, found in row.evaluations.items()) for row in rows
    }


def _line(split: str, evaluation: Evaluated) -> str:
    name, value = evaluation.headline
    types = evaluation.by_type
    each = ", ".join(f"{label} {100 * counts.f1:.2f}" for label, counts in types)
    listed = f" ({each})" if 1 < len(types) <= MOST_TYPES else ""
    return f"{split} {name.replace('f1', 'F1')} {100 * value:.2f}{listed}"
