"""What a task is: one value that holds all that differs between tagging, classifying and the rest.

Training, run folders, resuming, comparing, export and its proof, bulk, explaining and the commands are
written once against this value. ``table`` lists the tasks. The code of a task is in its folder, and what
needs torch in the folder's ``torch``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gonie.tasks.run_files import EXAMPLE_RUN
from gonie.tasks.sections import Recipe

if TYPE_CHECKING:
    from gonie.tasks.torch.task import TorchTask


def _as_it_is(recipe: Recipe) -> Recipe:
    return recipe


@dataclass(frozen=True, kw_only=True)
class Task:
    """One thing that a model can learn to do."""

    name: str
    """The value of ``task`` in a recipe and in a bundle."""
    command: Literal["train", "pretrain"] = "train"
    """The command that trains it."""
    model: str
    """What a model of the task is called, in messages: ``tagger``."""
    examples: str
    """What its examples are called, in the plural: ``sentences``."""
    answers: str
    """What its answers are called, in the plural: ``tags``."""
    recipe: type[Recipe]
    """What a recipe of the task may say."""
    torch: Callable[[], TorchTask]
    """Imports the torch half: reading training data, the network, export."""
    run_files: tuple[str, ...] = EXAMPLE_RUN
    """Files and folders that a run of the task leaves, besides those of every run."""
    resumable_reading: bool = False
    """Whether reading the data takes long and can be resumed: a run folder then begins before it."""
    resolve: Callable[[Recipe], Recipe] = _as_it_is
    """A recipe with what other files decide about it, as a new run writes it down."""
