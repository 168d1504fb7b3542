"""Names of loss terms in a recipe: a misspelt one is refused with the name that was probably meant."""

from __future__ import annotations

from difflib import get_close_matches

from gonie.errors import RecipeError
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.training.loss_terms.table import LOSS_TERMS


def refuse_misspelt_terms(recipe: Recipe) -> None:
    """Refuse sections ``[loss.NAME]`` with a name similar to a known one. ``check_terms`` refuses others."""
    if not isinstance(recipe, CorpusRecipe):
        return
    near = {name: get_close_matches(name, LOSS_TERMS, n=1) for name in recipe.loss if name not in LOSS_TERMS}
    if problems := [
        f"loss.{name}: unknown loss term; did you mean {meant[0]!r}?" for name, meant in near.items() if meant
    ]:
        raise RecipeError(problems)
