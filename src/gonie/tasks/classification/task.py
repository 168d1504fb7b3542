"""The task "classify" for the table of tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, cast

from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.load import load_text_bundle
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.classification.evaluation import TextEvaluator
    from gonie.tasks.classification.explanation import TextExplanations
    from gonie.tasks.classification.recipe import TextRecipe
    from gonie.tasks.classification.records import TextRecords
    from gonie.tasks.members import Combine
    from gonie.tasks.sections import Recipe
    from gonie.tasks.torch.task import TorchTask


def _recipe() -> type[TextRecipe]:
    from gonie.tasks.classification.recipe import TextRecipe

    return TextRecipe


def _records() -> TextRecords:
    from gonie.tasks.classification.records import TextRecords

    return TextRecords()


def _evaluation() -> TextEvaluator:
    from gonie.tasks.classification.evaluation import TextEvaluator

    return TextEvaluator()


def _explanation() -> TextExplanations:
    from gonie.tasks.classification.explanation import TextExplanations

    return TextExplanations()


def _ensemble() -> Combine:
    from gonie.tasks.classification.ensemble import combine_classifiers

    return combine_classifiers


def _baselines() -> Collection[str]:
    from gonie.tasks.classification.scoring import MAJORITY

    return (MAJORITY,)


def _torch() -> TorchTask:
    from gonie.tasks.classification.torch import task

    return task


def _resolve(recipe: Recipe, note: Callable[[str], None]) -> Recipe:
    """Return the recipe with one epoch and no bag if its head is fitted in one pass.

    Such a head does not use a bag.
    """
    from gonie.tasks.parts import TEXT_HEADS
    from gonie.tasks.single_pass import with_single_pass

    text = cast("TextRecipe", recipe)
    head = TEXT_HEADS.get(text.model.head.kind)
    if head is not None and head.fitted and text.model.bag is not None:
        note(f"model.bag = none: the head {text.model.head.kind} uses only the vectors of texts")
        text = text.model_copy(update={"model": text.model.model_copy(update={"bag": None})})
    return with_single_pass(text, head, note)


CLASSIFICATION = Task(
    name="classify",
    model="classifier",
    examples="texts",
    answers="labels",
    recipe=_recipe,
    torch=_torch,
    bundle=TextBundle,
    load=load_text_bundle,
    predict="classify",
    records=_records,
    evaluation=_evaluation,
    explanation=_explanation,
    ensemble=_ensemble,
    baselines=_baselines,
    resolve=_resolve,
)
