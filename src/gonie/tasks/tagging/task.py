"""Tagging as a value of the table of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gonie.tasks.tagging.evaluation import TagEvaluator
from gonie.tasks.tagging.explanation import TagExplanations
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.records import TagRecords
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.torch.task import TorchTask


def _torch() -> TorchTask:
    from gonie.tasks.tagging.torch import task

    return task


TAGGING = Task(
    name="tag",
    model="tagger",
    examples="sentences",
    answers="tags",
    recipe=TagRecipe,
    torch=_torch,
    predict="tag",
    records=TagRecords(),
    evaluation=TagEvaluator(),
    explanation=TagExplanations(),
)
