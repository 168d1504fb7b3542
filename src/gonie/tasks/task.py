"""A task as one value, which holds everything that differs between tasks.

Training, run folders, resuming, comparing, export, bulk runs, explanations and the commands are written once
for all tasks. ``table`` lists the tasks. The code of a task is in its folder, and the code that needs torch
in the subfolder ``torch``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from gonie.errors import GonieError
from gonie.runtime.bundle import Contents
from gonie.tasks.run_files import EXAMPLE_RUN

if TYPE_CHECKING:
    from gonie.tasks.evaluation import Evaluator
    from gonie.tasks.explanation import Explanations
    from gonie.tasks.members import Combine
    from gonie.tasks.records import Records
    from gonie.tasks.sections import Recipe
    from gonie.tasks.torch.task import TorchTask


def _no_predictor(bundle: Any, threads: int | None) -> Any:
    raise GonieError(f"models of the task {bundle.task!r} make no predictions")


def _unchanged(recipe: Recipe, note: Callable[[str], None]) -> Recipe:
    return recipe


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task that models learn."""

    name: str
    """The value of ``task`` in a recipe and in a bundle."""
    command: Literal["train", "pretrain"] = "train"
    """The command that trains it."""
    model: str
    """The name of its models in messages: ``tagger``."""
    examples: str
    """The name of its examples, in the plural: ``sentences``."""
    answers: str
    """The name of its predictions, in the plural: ``tags``."""
    recipe: Callable[[], type[Recipe]]
    """Imports the recipe type of the task. Loading a bundle does not need it."""
    torch: Callable[[], TorchTask]
    """Imports the code that needs torch: reading training data, the network, export."""

    bundle: type[Contents] | None = None
    """The contents of a bundle; None for a task without bundles."""
    load: Callable[[Any, int | None], Any] = _no_predictor
    """Builds a predictor from a bundle and a number of threads (None: all cores)."""
    predict: str = ""
    """The command that runs its models on texts, such as ``tag``; empty if there is none."""
    sample: tuple[str, ...] = ("Anna Kim works in Seoul. 안나는 서울에서 일한다.",)
    """Arguments for a test call of a predictor: one text, or as many as it needs."""

    run_files: tuple[str, ...] = EXAMPLE_RUN
    """Files and folders that a run of the task writes, besides those of every run."""
    resumable_reading: bool = False
    """Whether reading the data is slow and can be resumed. The run folder is then created before it."""
    baselines: Callable[[], Collection[str]] = tuple
    """The names of its baselines, which variants of a recipe may not have."""
    resolve: Callable[[Recipe, Callable[[str], None]], Recipe] = _unchanged
    """Fills in recipe keys that depend on other files, before a new run saves the recipe.

    The callback receives notes for the user. Resolving a recipe twice changes nothing.
    """

    records: Callable[[], Records] | None = None
    """Imports the interface that answers rows of texts, for ``predict`` and for bulk runs."""
    evaluation: Callable[[], Evaluator] | None = None
    """Imports the interface that scores a model on a file with gold labels, for `gonie evaluate`."""
    explanation: Callable[[], Explanations] | None = None
    """Imports the interface for explanations, for `gonie explain` and the pages of `gonie evaluate`."""

    ensemble: Callable[[], Combine] | None = None
    """Imports the function that combines several models into one predictor."""

    def describe_use(self, folder: str | PathLike[str]) -> str:
        """How to use a model of the task, for messages: ``use gonie tag runs/ner``."""
        if self.predict:
            return f"use gonie {self.predict} {fspath(folder)}"
        return f"use gonie.load({fspath(folder)!r}) in Python"
