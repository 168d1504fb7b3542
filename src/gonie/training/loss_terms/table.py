"""The table of loss terms, and how to build those of a recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.nn.batch_norm import averages_kept
from gonie.tasks.paths import missing_paths, output_problems, with_absolute_paths
from gonie.tasks.recipe import explain_invalid
from gonie.tasks.sections import CorpusRecipe, Recipe, RecipeType
from gonie.training.loss_terms import (
    adversary,
    distill,
    language_model,
    mldg,
    perturb,
    start_l2,
    teacher,
    transport,
)
from gonie.training.loss_terms.heads import AuxiliaryHeads
from gonie.training.loss_terms.l2 import MatrixL2
from gonie.training.loss_terms.part_penalties import PartPenalties
from gonie.training.loss_terms.term import LossTerm, ReadsFiles, TermContext, TermPart

LOSS_TERMS: dict[str, TermPart] = {
    "start-l2": start_l2.PART,
    "transport": transport.PART,
    "distill": distill.PART,
    "teacher": teacher.PART,
    "adversary": adversary.PART,
    "mldg": mldg.PART,
    "perturb": perturb.PART,
    "language-model": language_model.PART,
}
"""Loss terms by the NAME of ``[loss.NAME]`` in a recipe."""

PARTS, L2, HEADS = "parts", "l2", "heads"
"""The names of the terms that are no section of ``loss``."""


def build_terms(context: TermContext) -> dict[str, LossTerm]:
    """Build the terms of a recipe by name.

    They are the penalties of parts, ``train.l2``, the auxiliary heads, and those of ``[loss.*]``.
    """
    recipe = context.recipe
    terms: dict[str, LossTerm] = {PARTS: PartPenalties()}
    if recipe.train.l2:
        terms[L2] = MatrixL2(strength=recipe.train.l2, examples=context.examples)
    if getattr(recipe, "heads", None):
        terms[HEADS] = AuxiliaryHeads(context)
    check_terms(recipe)
    for name, values in recipe.loss.items():
        part = LOSS_TERMS[name]
        terms[name] = part.build(part.section.model_validate(values), context)
    return terms


def module_terms(terms: Mapping[str, LossTerm]) -> nn.ModuleDict:
    """Return the terms that have weights or buffers of their own, by name."""
    return nn.ModuleDict({name: term for name, term in terms.items() if isinstance(term, nn.Module)})


def recorded_terms(terms: Iterable[str]) -> list[str]:
    """Return the names of the terms that metrics have: all but the penalties of parts."""
    return [name for name in terms if name != PARTS]


def check_terms(recipe: Recipe) -> None:
    """Refuse unknown terms in ``loss``, and terms with invalid keys or values or missing files."""
    if not isinstance(recipe, CorpusRecipe):
        return
    if problems := [problem for name, values in recipe.loss.items() for problem in _problems(name, values)]:
        raise RecipeError(problems)


def check_outputs(recipe: Recipe) -> None:
    """Refuse files to write that cannot be written, or that the recipe or its valid loss terms read."""
    loss = recipe.loss if isinstance(recipe, CorpusRecipe) else {}
    terms = [LOSS_TERMS[name].section.model_validate(values) for name, values in loss.items()]
    if problems := output_problems(recipe, terms):
        raise RecipeError(problems)


def with_absolute_terms(recipe: RecipeType) -> RecipeType:
    """Return the recipe with absolute paths in its valid loss terms. ``check_terms`` refuses all others."""
    if not isinstance(recipe, CorpusRecipe) or not recipe.loss:
        return recipe
    loss = {name: _absolute(name, values) for name, values in recipe.loss.items()}
    return recipe.model_copy(update={"loss": loss})


def with_files(fingerprint: str, terms: Mapping[str, LossTerm]) -> str:
    """Return the fingerprint of a run, to which the files that its loss terms read are added."""
    digests = [term.digest() for term in terms.values() if isinstance(term, ReadsFiles)]
    if not digests:
        return fingerprint
    return hashlib.sha256("".join([fingerprint, *digests]).encode()).hexdigest()


def total_loss(model: Any, batch: Mapping[str, Tensor], terms: Collection[LossTerm]) -> Tensor:
    """Return the task's loss plus all terms, added in order. Shape: ()."""
    if not terms:
        return model.loss(batch)  # type: ignore[no-any-return]
    states = model.states(batch)
    return with_terms(model.loss_of(states, batch), model, batch, states, terms)


def with_terms(
    loss: Tensor, model: Any, batch: Mapping[str, Tensor], states: Tensor, terms: Iterable[LossTerm]
) -> Tensor:
    """Return the loss plus all terms, added in order. Shape: ().

    Terms may compute the model for other texts, or with other weights, so they move no running averages.
    """
    with averages_kept(model):
        for term in terms:
            loss = loss + term(model, batch, states)
    return loss


def _problems(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    if name not in LOSS_TERMS:
        near = get_close_matches(name, LOSS_TERMS, n=1)
        meant = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(LOSS_TERMS) or 'none'}"
        yield f"loss.{name}: unknown loss term; {meant}"
        return
    try:
        section = LOSS_TERMS[name].section.model_validate(values)
    except ValidationError as error:
        for problem in explain_invalid(LOSS_TERMS[name].section, error):
            yield f"loss.{name}.{problem}"
    else:
        yield from (f"loss.{name}.{problem}" for problem in missing_paths(section))


def _absolute(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values of a term, its paths absolute."""
    try:
        section = LOSS_TERMS[name].section.model_validate(values)
    except (KeyError, ValidationError):
        return dict(values)
    return with_absolute_paths(section).model_dump(mode="json", include=set(values))
