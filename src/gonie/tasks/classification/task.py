"""Classification as a value of the table of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gonie.tasks.classification.evaluation import TextEvaluator
from gonie.tasks.classification.explanation import TextExplanations
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.records import TextRecords
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.torch.task import TorchTask


def _torch() -> TorchTask:
    from gonie.tasks.classification.torch import task

    return task


CLASSIFICATION = Task(
    name="classify",
    model="classifier",
    examples="texts",
    answers="labels",
    recipe=TextRecipe,
    torch=_torch,
    predict="classify",
    records=TextRecords(),
    evaluation=TextEvaluator(),
    explanation=TextExplanations(),
)
