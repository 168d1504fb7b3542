"""What the torch half of a task brings: all that training, exporting and checking its network need.

A module plays this role by having these functions (``gonie.tasks.tagging.torch.task``).
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
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import Sources
from gonie.tasks.torch.job import Job, Note
from gonie.tasks.torch.synthetic import Specimen


@dataclass(frozen=True)
class RunContext:
    """The run that data is read for."""

    note: Note
    """Is told what was found."""
    folder: Path | None = None
    """The run folder, where a task may keep what it has read."""
    advance: Callable[[TokenisingProgress], None] | None = None
    """Is told how far a long text is tokenised."""


class OddsPath(NamedTuple):
    """The log-odds of an answer as a function that can be differentiated, where it is to be explained."""

    function: Callable[..., Tensor]
    """Takes n copies of the inputs, (n, ...) each, and gives n log-odds, (n,)."""
    inputs: Sequence[Tensor]
    """What the function is explained by, such as the vectors of the words, as they are. Shape: (...) each."""
    words: Callable[[Sequence[Tensor]], Floats]
    """From a weight for each number of the inputs to one for each token: (M,)."""


class TorchTask(Protocol):
    """The role of any task. ``recipe`` is always one of the task's own type."""

    def prepare(self, recipe: Any, context: RunContext) -> Job:
        """Read, count and encode everything that the recipe names."""
        ...

    def data_key(self, recipe: Any) -> str:
        """The part of a recipe that ``prepare`` depends on: recipes with equal keys share their data."""
        ...


@runtime_checkable
class ExampleTask(TorchTask, Protocol):
    """The role of a task that learns from labelled examples, and whose models are exported."""

    def read_dev(self, recipe: Any, note: Note) -> Sequence[Any]:
        """Read only the examples that a run of the recipe chooses its best epoch by."""
        ...

    def exportable(self, model: Any, bundle: Any, examples: Sequence[Any]) -> Exportable:
        """A trained network, what its bundle holds, and held-out examples to prove an export on."""
        ...

    def read_encoding(self, saved: Mapping[str, Any]) -> Any:
        """The encoding that a run folder keeps."""
        ...

    def build(self, recipe: Any, encoding: Any, words: WordTable | None, sources: Sources) -> nn.Module:
        """A fresh network of the recipe's kind, in the shape that ``words`` and ``sources`` say."""
        ...


@runtime_checkable
class GradientCheckTask(Protocol):
    """What a task has whose networks `gonie check-gradients` checks."""

    def synthetic(self, recipe: Any) -> Specimen[Any, Any]:
        """A small network of the recipe's kind with a batch of synthetic data, for checks without files."""
        ...


@runtime_checkable
class GradientTask(Protocol):
    """What a task has whose answers are explained by gradients."""

    def odds_path(self, network: Any, model: Any, answer: Any) -> OddsPath:
        """The log-odds of an answer of ``model``, the predictor, by its ``network`` in evaluation mode."""
        ...
