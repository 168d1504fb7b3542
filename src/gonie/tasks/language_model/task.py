"""Language models as a value of the table of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gonie.tasks.language_model.recipe import PretrainRecipe
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.torch.task import TorchTask


def _torch() -> TorchTask:
    raise NotImplementedError("gonie.training.pretrain_run trains language models")


LANGUAGE_MODEL = Task(
    name="pretrain",
    command="pretrain",
    model="language model",
    examples="tokens",
    answers="words",
    recipe=PretrainRecipe,
    torch=_torch,
)
