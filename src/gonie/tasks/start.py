"""Resolved recipes: keys that depend on other files, such as the network of a model to start from.

``gonie.tasks.torch.start`` has the torch half: vocabularies, vectors and weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from gonie.tasks.paths import locate
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import RECIPE
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.table import TASKS

OWN_PARTS = frozenset({"head", "dropout", "adapter"})
"""Keys of ``model`` that a new model does not take from its start."""
LOOKUP = ("language", "unit", "fold_text", "lowercase", "digits", "backoff", "user_dictionary")
"""Keys of ``data`` that determine the words of a text. They are those of the start."""
FEATURES = ("context_window", "context_grams", "gazetteers", "columns")
"""Keys of ``data`` that determine features, likewise."""

Type = TypeVar("Type", bound=CorpusRecipe)


def resolve_recipe(recipe: Recipe, note: Callable[[str], None]) -> Recipe:
    """Fill in the keys that depend on other files: the start, and what the task resolves (``Task.resolve``).

    ``note`` receives notes for the user. Resolving a recipe twice changes nothing.
    """
    if isinstance(recipe, CorpusRecipe):
        recipe = with_shape_of_start(recipe, note)
    return TASKS[recipe.task].resolve(recipe, note)


def with_shape_of_start(recipe: Type, note: Callable[[str], None]) -> Type:
    """Return the recipe with the network and the words of the model that it starts from, if any.

    ``note`` receives the keys that change. The head, dropout and adapters stay as they are.
    """
    name = recipe.train.start
    if name is None:
        return recipe
    start: CorpusRecipe = load_recipe(locate(name) / RECIPE)
    if start.task != recipe.task:
        return recipe  # refused when the start is loaded
    parts = {key: getattr(start.model, key) for key in _keys(start.model) if key not in OWN_PARTS}
    words = {key: getattr(start.data, key) for key in (*LOOKUP, *FEATURES) if key in _keys(start.data)}
    changed = recipe.model_copy(
        update={
            "model": recipe.model.model_copy(update=parts),
            "data": recipe.data.model_copy(update=words),
        }
    )
    own, new = recipe.model_dump(mode="json"), changed.model_dump(mode="json")
    if found := [f"{key} = {value}" for key, value in _changes(own, new)]:
        note(f"as in {Path(name).name}, where training starts: {', '.join(found)}")
    for key, source in recipe.model.contextual.items():
        if source.undecided and getattr(changed.model, key) is None:
            note(
                f"{Path(name).name} has no language model, so this model has none either. With a small "
                "training file, a language model is usually worth more than a start; to have both, train the "
                f"start with --set model.{key}.{source.decided_setting}"
            )
    return changed


def _keys(section: BaseModel) -> list[str]:
    return list(type(section).model_fields)


def _changes(own: Any, new: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the keys of ``new`` that differ, with their values."""
    for key, value in new.items():
        if (
            isinstance(value, dict)
            and isinstance(own.get(key), dict)
            and key not in ("gazetteers", "columns")
        ):
            yield from _changes(own[key], value, f"{prefix}{key}.")
        elif own.get(key) != value:
            yield f"{prefix}{key}", "none" if value is None else value
