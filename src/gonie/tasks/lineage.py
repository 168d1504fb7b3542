"""The runs that a model started from, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gonie.errors import RecipeError
from gonie.tasks.paths import locate
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import RECIPE
from gonie.tasks.sections import CorpusRecipe, Recipe


def earlier_runs(start: str | None) -> Iterator[tuple[Path, CorpusRecipe]]:
    """Yield the run ``start`` and those that it started from, the latest first, as far as they remain.

    A run that was moved to the place of its own start is the last one: the start is gone.
    """
    passed: set[Path] = set()
    while start is not None:
        folder = locate(start)
        if folder.resolve() in passed:
            return
        try:
            recipe: Recipe = load_recipe(folder / RECIPE)
        except RecipeError:
            return
        if not isinstance(recipe, CorpusRecipe):
            return
        yield folder, recipe
        passed.add(folder.resolve())
        start = recipe.train.start
