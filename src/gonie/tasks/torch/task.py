"""What the torch half of a task brings: all that training, exporting and checking its network need.

A module plays this role by having these functions (``gonie.tasks.tagging.torch.task``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gonie.features.lm_text import TokenisingProgress
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


class TorchTask(Protocol):
    """The role. ``recipe`` is always one of the task's own type."""

    def prepare(self, recipe: Any, context: RunContext) -> Job:
        """Read, count and encode everything that the recipe names."""
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
