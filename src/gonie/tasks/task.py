"""What a task is: one value that holds all that differs between tagging, classifying and the rest.

Training, run folders, resuming, comparing, export and its proof, bulk, explaining and the commands are
written once against this value. ``table`` lists the tasks. The code of a task is in its folder, and what
needs torch in the folder's ``torch``.
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
    from gonie.tasks.records import Records
    from gonie.tasks.sections import Recipe
    from gonie.tasks.torch.task import TorchTask


def _no_predictor(bundle: Any, threads: int | None) -> Any:
    raise GonieError(f"models of the task {bundle.task!r} give no answers")


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
    recipe: Callable[[], type[Recipe]]
    """Imports what a recipe of the task may say; loading a bundle does not need it."""
    torch: Callable[[], TorchTask]
    """Imports the torch half: reading training data, the network, export."""

    bundle: type[Contents] | None = None
    """What a bundle of the task holds; None for a task whose models have none."""
    load: Callable[[Any, int | None], Any] = _no_predictor
    """Makes a predictor from a bundle, for so many threads (None: all cores)."""
    predict: str = ""
    """The command that runs its models over texts: ``tag``; none where there is no such command."""
    sample: tuple[str, ...] = ("Anna Kim works in Seoul. 안나는 서울에서 일한다.",)
    """What a predictor may be called with to try it: one text, or as many as an answer needs."""

    run_files: tuple[str, ...] = EXAMPLE_RUN
    """Files and folders that a run of the task leaves, besides those of every run."""
    resumable_reading: bool = False
    """Whether reading the data takes long and can be resumed: a run folder then begins before it."""
    baselines: Callable[[], Collection[str]] = tuple
    """The names of its baselines, which variants of a recipe may not have."""
    resolve: Callable[[Recipe], Recipe] = _as_it_is
    """A recipe with what other files decide about it, as a new run writes it down."""

    records: Callable[[], Records] | None = None
    """Imports what answers rows of texts, for that command and for bulk runs."""
    evaluation: Callable[[], Evaluator] | None = None
    """Imports what scores a model on a file with gold answers, for `gonie evaluate`."""
    explanation: Callable[[], Explanations] | None = None
    """Imports what explains a model's answers, for `gonie explain` and the pages of `gonie evaluate`."""

    def describe_use(self, folder: str | PathLike[str]) -> str:
        """How to use a model of the task, for messages: ``use gonie tag runs/ner``."""
        if self.predict:
            return f"use gonie {self.predict} {fspath(folder)}"
        return f"use gonie.load({fspath(folder)!r}) in Python"
