"""The task "pretrain" for the table of tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from gonie.tasks.run_files import LANGUAGE_MODEL_RUN
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.language_model.recipe import PretrainRecipe
    from gonie.tasks.sections import Recipe
    from gonie.tasks.torch.task import TorchTask


def _recipe() -> type[PretrainRecipe]:
    from gonie.tasks.language_model.recipe import PretrainRecipe

    return PretrainRecipe


def _torch() -> TorchTask:
    from gonie.tasks.language_model.torch import task

    return task


def _resolve(recipe: Recipe, note: Callable[[str], None]) -> Recipe:
    """Return the recipe with the shape of the model that it starts from."""
    from gonie.tasks.language_model.torch.start import with_shape_of_start

    return with_shape_of_start(cast("PretrainRecipe", recipe))


LANGUAGE_MODEL = Task(
    name="pretrain",
    command="pretrain",
    model="language model",
    examples="texts",
    answers="words",
    recipe=_recipe,
    torch=_torch,
    run_files=LANGUAGE_MODEL_RUN,
    resumable_reading=True,
    resolve=_resolve,
)
