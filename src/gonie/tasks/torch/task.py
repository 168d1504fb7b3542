"""What the torch half of a task brings: all that training, exporting and checking its network need.

A module plays this role by having these functions (``gonie.tasks.tagging.torch.task``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from torch import nn

from gonie.export.exportable import Exportable
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import Sources
from gonie.tasks.torch.job import Job
from gonie.tasks.torch.synthetic import Specimen

Note = Callable[[str], None]


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

    def exportable(self, model: Any, bundle: Any, examples: Sequence[Any]) -> Exportable:
        """A trained network, what its bundle holds, and held-out examples to prove an export on."""
        ...

    def synthetic(self, recipe: Any) -> Specimen[Any, Any]:
        """A small network of the recipe's kind with a batch of synthetic data, for checks without files."""
        ...

    def read_encoding(self, saved: Mapping[str, Any]) -> Any:
        """The encoding that a run folder keeps."""
        ...

    def build(self, recipe: Any, encoding: Any, words: WordTable | None, sources: Sources) -> nn.Module:
        """A fresh network of the recipe's kind, in the shape that ``words`` and ``sources`` say."""
        ...
