"""What the torch half of a task brings: all that training, exporting and checking its network need.

A module plays this role by having these functions (``gonie.tasks.tagging.torch.task``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from torch import Tensor

from gonie.metrics.log_odds import Floats
from gonie.tasks.torch.job import Job
from gonie.tasks.torch.synthetic import Specimen

Note = Callable[[str], None]


class OddsPath(NamedTuple):
    """The log-odds of an answer as a function that can be differentiated, where it is to be explained."""

    function: Callable[..., Tensor]
    """Takes n copies of the inputs, (n, ...) each, and gives n log-odds, (n,)."""
    inputs: Sequence[Tensor]
    """What the function is explained by, such as the vectors of the words, as they are. Shape: (...) each."""
    words: Callable[[Sequence[Tensor]], Floats]
    """From a weight for each number of the inputs to one for each token: (M,)."""


class TorchTask(Protocol):
    """The role. ``recipe`` is always one of the task's own type."""

    def prepare(self, recipe: Any, note: Note) -> Job:
        """Read, count and encode everything that the recipe names; ``note`` is told what was found."""
        ...

    def read_dev(self, recipe: Any, note: Note) -> Sequence[Any]:
        """Read only the examples that a run of the recipe chooses its best epoch by."""
        ...

    def data_key(self, recipe: Any) -> str:
        """The part of a recipe that ``prepare`` depends on: recipes with equal keys share their data."""
        ...

    def synthetic(self, recipe: Any) -> Specimen[Any, Any]:
        """A small network of the recipe's kind with a batch of synthetic data, for checks without files."""
        ...

    def odds_path(self, network: Any, model: Any, answer: Any) -> OddsPath:
        """The log-odds of an answer of ``model``, the predictor, by its ``network`` in evaluation mode."""
        ...
