"""The task "tag" for the table of tasks."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.load import load_tag_bundle
from gonie.tasks.task import Task

if TYPE_CHECKING:
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


def _baselines() -> Collection[str]:
    from gonie.metrics.baselines import BASELINES

    return tuple(BASELINES)


def _torch() -> TorchTask:
    from gonie.tasks.tagging.torch import task

    return task


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
    records=_records,
    evaluation=_evaluation,
    explanation=_explanation,
    baselines=_baselines,
)
