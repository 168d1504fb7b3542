"""The task "tag" for the table of tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice
from typing import TYPE_CHECKING, cast

from gonie.tasks.run_files import TAG_RUN
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.load import load_tag_bundle
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.members import Combine
    from gonie.tasks.sections import Recipe
    from gonie.tasks.tagging.evaluation import TagEvaluator
    from gonie.tasks.tagging.explanation import TagExplanations
    from gonie.tasks.tagging.recipe import TagRecipe
    from gonie.tasks.tagging.records import TagRecords
    from gonie.tasks.torch.task import TorchTask


def _recipe() -> type[TagRecipe]:
    from gonie.tasks.tagging.recipe import TagRecipe

    return TagRecipe


def _records() -> TagRecords:
    from gonie.tasks.tagging.records import TagRecords

    return TagRecords()


def _evaluation() -> TagEvaluator:
    from gonie.tasks.tagging.evaluation import TagEvaluator

    return TagEvaluator()


def _explanation() -> TagExplanations:
    from gonie.tasks.tagging.explanation import TagExplanations

    return TagExplanations()


def _ensemble() -> Combine:
    from gonie.tasks.tagging.ensemble import combine_taggers

    return combine_taggers


def _baselines() -> Collection[str]:
    from gonie.metrics.baselines import BASELINES

    return tuple(BASELINES)


def _torch() -> TorchTask:
    from gonie.tasks.tagging.torch import task

    return task


def _resolve(recipe: Recipe, note: Callable[[str], None]) -> Recipe:
    """Return the recipe with the contextual sources that suit its training file.

    A recipe whose head is fitted in one pass has one epoch.
    """
    from gonie.tasks.parts import TAG_HEADS
    from gonie.tasks.single_pass import with_single_pass
    from gonie.tasks.tagging.torch.files import training_sentences
    from gonie.tasks.torch.contextual import resolve_sources

    tagging = cast("TagRecipe", recipe)
    tagging = with_single_pass(tagging, TAG_HEADS[tagging.model.head.kind], note)
    return resolve_sources(tagging, islice(training_sentences(tagging), tagging.data.size), note)


TAGGING = Task(
    name="tag",
    model="tagger",
    examples="sentences",
    answers="tags",
    recipe=_recipe,
    torch=_torch,
    bundle=TagBundle,
    load=load_tag_bundle,
    predict="tag",
    run_files=TAG_RUN,
    records=_records,
    evaluation=_evaluation,
    explanation=_explanation,
    ensemble=_ensemble,
    baselines=_baselines,
    resolve=_resolve,
)
