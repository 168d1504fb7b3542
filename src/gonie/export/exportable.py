"""What the export asks of a task: a trained model, what its bundle is to hold, and examples to try it on.

``driver`` turns whatever plays this role into a bundle. What differs between tasks is in the class that a
task's torch half has for it (``gonie.tasks.tagging.torch.exportable``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray
from torch import nn

from gonie.export.graph import Graph
from gonie.runtime.bundle import Contents, Graphs
from gonie.runtime.scorer import Batch

BATCH_TOKENS, BATCH_SENTENCES = 2000, 32

Array = NDArray[Any]
Arrays = Mapping[str, Array]
"""What a model gives for a batch, by name, without padding."""


class Judged(NamedTuple):
    """What a bundle says of held-out examples: its answers one by one, and their score by a metric."""

    answers: Sequence[object]
    metric: str
    score: float


class Standalone(NamedTuple):
    """A model as one graph from ids to answers, and what it must answer."""

    graph: bytes
    result: str
    """The name of the answers among its outputs."""
    answer: Callable[[Batch], Array]
    """The bundle's own answers to a batch, of the same shape."""


class Exportable(Protocol):
    """A trained model on its way to a bundle."""

    @property
    def model(self) -> nn.Module:
        """The trained network, on the CPU."""

    @property
    def bundle(self) -> Contents:
        """What its bundle is to hold; the graphs in it do not matter."""

    @property
    def examples(self) -> Sequence[Any]:
        """Held-out examples with their answers."""

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees; 0 where there is none."""

    @property
    def jumping(self) -> Collection[str]:
        """The names of arrays whose values may jump where two inputs are equal (``proof``)."""

    def write(self, graph: Graph) -> Graphs:
        """The network written into an empty graph."""

    def batches(self, samples: int) -> Iterator[Batch]:
        """So many of the examples, in batches of like length."""

    def trained(self, batch: Batch) -> Arrays:
        """What the network gives for a batch."""

    def shipped(self, bundle: Any) -> Callable[[Batch], Arrays]:
        """What the model in a bundle gives for a batch, under the same names."""

    def judge(self, bundle: Any) -> Judged:
        """What a bundle says of all the examples, and how good that is."""

    def standalone(self, bundle: Any) -> Standalone:
        """The whole model as one graph that answers as ``bundle`` does."""


def model_summary(model: nn.Module) -> dict[str, Any]:
    """The model for people: its parts as torch prints them, and how many weights each has."""
    return {
        "parts": {name: type(part).__name__ for name, part in model.named_children()},
        "weights": {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()},
        "description": str(model),
    }
