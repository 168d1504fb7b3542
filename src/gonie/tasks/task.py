"""What a task is: one value that holds all that differs between tagging, classifying and the rest.

Training, run folders, resuming, comparing, export and its proof, bulk, explaining and the commands are
written once against this value. ``table`` lists the tasks. The code of a task is in its folder, and what
needs torch in the folder's ``torch``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gonie.tasks.evaluation import Evaluator
from gonie.tasks.explanation import Explanations
from gonie.tasks.records import Records
from gonie.tasks.sections import Recipe

if TYPE_CHECKING:
    from gonie.tasks.torch.task import TorchTask


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
    predict: str = ""
    """The command that runs its models over texts: ``tag``; none where there is no such command."""
    records: Records | None = None
    """Answers rows of texts, for that command and for bulk runs; a task with ``predict`` has it."""
    evaluation: Evaluator | None = None
    """Scores a model on a file with gold answers, for `gonie evaluate`."""
    explanation: Explanations | None = None
    """Explains a model's answers, for `gonie explain` and the pages of `gonie evaluate`."""
