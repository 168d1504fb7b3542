"""What a loss term is, and how one is made from a recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from gonie.tasks.section import Section
from gonie.tasks.sections import CorpusRecipe


class LossTerm(Protocol):
    """A scalar that is added to the loss of a batch and lowered with it."""

    def __call__(self, model: Any, batch: Mapping[str, Tensor]) -> Tensor | float:
        """The value for a batch that ``model`` has just been asked for the loss of. Shape: ()."""
        ...


@dataclass(frozen=True, kw_only=True)
class TermPart:
    """An entry of the table: the keys of ``[loss.NAME]`` in a recipe, and how the term is built from them."""

    help: str
    section: type[Section]
    build: Callable[[Any, CorpusRecipe, int], LossTerm]
    """Section, recipe and the number of training examples -> term."""
