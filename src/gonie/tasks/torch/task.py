"""The interface of the torch half of a task: training, exporting and checking its network.

It is implemented by a module with these functions (``gonie.tasks.tagging.torch.task``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from torch import Tensor, nn

from gonie.export.exportable import Exportable
from gonie.features.lm_text import TokenisingProgress
from gonie.metrics.log_odds import Floats
from gonie.tasks.members import Advance
from gonie.tasks.teacher import AnswerSettings, Request, Teacher
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import Sources
from gonie.tasks.torch.job import Job, Note
from gonie.tasks.torch.scorer import Running
from gonie.tasks.torch.start import Start
from gonie.tasks.torch.synthetic import SyntheticModel


@dataclass(frozen=True)
class RunContext:
    """The run for which data is read."""

    note: Note
    """Receives what was found."""
    folder: Path | None = None
    """The run folder, where a task may store what it has read."""
    advance: Callable[[TokenisingProgress], None] | None = None
    """Receives the progress of tokenising a long text."""
    start: Start | None = None
    """The model that the recipe starts from, if it names one."""


class OddsPath(NamedTuple):
    """The log-odds of an answer as a differentiable function, for explanations by gradients."""

    function: Callable[..., Tensor]
    """Maps n copies of the inputs, (n, ...) each, to n log-odds, (n,)."""
    inputs: Sequence[Tensor]
    """The inputs to attribute to, such as the vectors of the words. Shape: (...) each."""
    words: Callable[[Sequence[Tensor]], Floats]
    """Maps weights of the input numbers to weights of the tokens: (M,)."""


class TorchTask(Protocol):
    """The torch half of any task. ``recipe`` is always of the task's recipe type."""

    def prepare(self, recipe: Any, context: RunContext) -> Job:
        """Read and encode the data of a recipe."""
        ...

    def data_key(self, recipe: Any) -> str:
        """Return the part of a recipe that ``prepare`` depends on. Recipes with equal keys share data."""
        ...


@runtime_checkable
class ExampleTask(TorchTask, Protocol):
    """The torch half of a task that learns from labelled examples and exports its models."""

    def read_dev(self, recipe: Any, note: Note) -> Sequence[Any]:
        """Read only the dev examples of a recipe."""
        ...

    def exportable(self, model: Any, bundle: Any, examples: Sequence[Any]) -> Exportable:
        """Return a trained network with the contents of its bundle, and held-out examples to test them."""
        ...

    def read_encoding(self, saved: Mapping[str, Any]) -> Any:
        """Return the encoding saved in a run folder."""
        ...

    def build(self, recipe: Any, encoding: Any, words: WordTable | None, sources: Sources) -> nn.Module:
        """Build an untrained network of the recipe, with the shape of ``words`` and ``sources``."""
        ...


@runtime_checkable
class GradientCheckTask(Protocol):
    """What a task has whose networks `gonie check-gradients` checks."""

    def synthetic(self, recipe: Any) -> SyntheticModel[Any, Any]:
        """A small network of the recipe's kind with a batch of synthetic data, for checks without files."""
        ...


@runtime_checkable
class DropoutTask(Protocol):
    """What a task has whose models take several passes with dropout."""

    def passes(
        self,
        network: Any,
        config: Any,
        model: Any,
        modes: Sequence[Running],
        advance: Advance | None = None,
    ) -> Any:
        """Return the ensemble of passes of a trained network in these modes.

        ``config`` is the model section of its recipe, and ``model`` its predictor.
        """
        ...


@runtime_checkable
class TeachingTask(Protocol):
    """What a task has whose models learn from the answers of others (``gonie distill``)."""

    def teacher_of(
        self,
        models: Sequence[Any],
        networks: Mapping[int, nn.Module],
        recipe: Any,
        settings: AnswerSettings,
    ) -> Teacher:
        """Return predictors as the teacher of a student with this recipe.

        ``networks`` are trained networks that score in place of a predictor, by its number.
        """
        ...

    def answer_request(self, recipe: Any, teacher: Any, settings: AnswerSettings, note: Note) -> Request:
        """Return what the teacher is asked. A teacher of other labels than the student's is refused."""
        ...

    def held_out(self, recipe: Any) -> tuple[str, Sequence[Any]]:
        """Return the name of the split that models are compared on, test or dev, and its examples."""
        ...

    def predict(self, model: Any, examples: Sequence[Any]) -> tuple[Sequence[tuple[str, ...]], int]:
        """Return the tags or labels of examples, by a predictor or a teacher, and how many tokens it read."""
        ...

    def score(
        self,
        recipe: Any,
        model: Any,
        examples: Sequence[Any],
        predicted: Sequence[tuple[str, ...]],
        rules: Mapping[str, str],
    ) -> tuple[str, float]:
        """Return the name and the value of the main score of what ``model`` predicted.

        ``rules`` rename the labels of the model.
        """
        ...


@runtime_checkable
class GradientTask(Protocol):
    """What a task has whose answers are explained by gradients."""

    def odds_path(self, network: Any, model: Any, answer: Any) -> OddsPath:
        """Return the log-odds of an answer of the predictor ``model``, computed by ``network``."""
        ...
