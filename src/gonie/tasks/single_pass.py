"""Recipes whose head is fitted in a single pass over the training examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gonie.tasks.parts import Part
from gonie.tasks.sections import CorpusRecipe

Type = TypeVar("Type", bound=CorpusRecipe)


def with_single_pass(recipe: Type, head: Part | None, note: Callable[[str], None]) -> Type:
    """Return the recipe with one epoch if its head is fitted in one pass (``Part.fitted``)."""
    train = recipe.train
    if head is None or not head.fitted or train.episodes is not None or train.epochs == 1:
        return recipe
    note("the head is computed in one pass over the training examples: train.epochs = 1")
    return recipe.model_copy(update={"train": train.model_copy(update={"epochs": 1})})
