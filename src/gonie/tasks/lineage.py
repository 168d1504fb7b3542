"""The runs that a model started from, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gonie.errors import RecipeError
from gonie.tasks.paths import locate
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import RECIPE
from gonie.tasks.sections import CorpusRecipe


def earlier_runs(start: str | None) -> Iterator[tuple[Path, CorpusRecipe]]:
    """Yield the run ``start`` and those that it started from, the latest first, as far as they remain."""
    while start is not None:
        folder = locate(start)
        try:
            recipe: CorpusRecipe = load_recipe(folder / RECIPE)
        except RecipeError:
            return
        yield folder, recipe
        start = recipe.train.start
