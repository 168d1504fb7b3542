"""The interface of loss terms, and of their entries in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from gonie.tasks.section import Section
from gonie.tasks.sections import CorpusRecipe


class LossTerm(Protocol):
    """A scalar that is added to the loss of a batch."""

    def __call__(self, model: Any, batch: Mapping[str, Tensor]) -> Tensor | float:
        """Return the term for a batch, after the loss of ``model`` on it was computed. Shape: ()."""
        ...


@dataclass(frozen=True, kw_only=True)
class TermPart:
    """An entry of the table: the recipe section ``[loss.NAME]``, and how to build the term from it."""

    help: str
    section: type[Section]
    build: Callable[[Any, CorpusRecipe, int], LossTerm]
    """Section, recipe and the number of training examples -> term."""
