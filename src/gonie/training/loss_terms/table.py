"""The table of loss terms, and how to build those of a recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from torch import Tensor

from gonie.errors import RecipeError
from gonie.tasks.recipe import explain_invalid
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.training.loss_terms.l2 import MatrixL2
from gonie.training.loss_terms.part_penalties import PartPenalties
from gonie.training.loss_terms.term import LossTerm, TermPart

LOSS_TERMS: dict[str, TermPart] = {}
"""Loss terms by the NAME of ``[loss.NAME]`` in a recipe."""


def build_terms(recipe: Recipe, *, examples: int) -> list[LossTerm]:
    """Build the terms of a recipe: penalties of parts, ``train.l2``, and those of ``[loss.*]``.

    Tasks without labelled examples have no terms.
    """
    if not isinstance(recipe, CorpusRecipe):
        return []
    terms: list[LossTerm] = [PartPenalties()]
    if recipe.train.l2:
        terms.append(MatrixL2(strength=recipe.train.l2, examples=examples))
    check_terms(recipe)
    for name, values in recipe.loss.items():
        part = LOSS_TERMS[name]
        terms.append(part.build(part.section.model_validate(values), recipe, examples))
    return terms


def check_terms(recipe: Recipe) -> None:
    """Refuse unknown terms in ``loss``, and terms with invalid keys or values."""
    if not isinstance(recipe, CorpusRecipe):
        return
    if problems := [problem for name, values in recipe.loss.items() for problem in _problems(name, values)]:
        raise RecipeError(problems)


def total_loss(model: Any, batch: Mapping[str, Tensor], terms: Sequence[LossTerm]) -> Tensor:
    """Return the task's loss plus all terms. Shape: ()."""
    loss: Tensor = model.loss(batch)
    return with_terms(loss, model, batch, terms)


def with_terms(loss: Tensor, model: Any, batch: Mapping[str, Tensor], terms: Sequence[LossTerm]) -> Tensor:
    """Return the loss plus all terms, added in order. Shape: ()."""
    for term in terms:
        loss = loss + term(model, batch)
    return loss


def _problems(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    if name not in LOSS_TERMS:
        known = ", ".join(LOSS_TERMS) or "none"
        yield f"loss.{name}: unknown loss term; known: {known}"
        return
    try:
        LOSS_TERMS[name].section.model_validate(values)
    except ValidationError as error:
        for problem in explain_invalid(LOSS_TERMS[name].section, error):
            yield f"loss.{name}.{problem}"
