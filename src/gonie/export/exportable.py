"""The interface of a task for export: a trained model, the contents of its bundle, and examples to test it.

``driver`` turns any ``Exportable`` into a bundle. Each task implements it in its torch half
(``gonie.tasks.tagging.torch.exportable``).
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
"""The outputs of a model for a batch, by name, without padding."""


class ScoredAnswers(NamedTuple):
    """The predictions of a bundle for held-out examples, and their score by a metric."""

    answers: Sequence[Any]
    metric: str
    score: float
    tolerance: float | None = None
    """How far apart two answers that are numbers may be and still count as the same."""

    def changed(self, other: ScoredAnswers) -> int:
        """Return how many answers of ``other`` are not those of this bundle."""
        pairs = list(zip(self.answers, other.answers, strict=True))
        if self.tolerance is None:
            return sum(one != two for one, two in pairs)
        return sum(abs(one - two) > self.tolerance for one, two in pairs)


class Standalone(NamedTuple):
    """A model as one graph from ids to predictions, and the predictions that it must give."""

    graph: bytes
    result: str
    """The name of the output that holds the predictions."""
    answer: Callable[[Batch], Array]
    """Computes the bundle's predictions for a batch, in the same shape."""


class Exportable(Protocol):
    """A trained model that can be exported."""

    @property
    def model(self) -> nn.Module:
        """The trained network, on the CPU."""

    @property
    def bundle(self) -> Contents:
        """The contents of its bundle. Its graphs are ignored."""

    @property
    def examples(self) -> Sequence[Any]:
        """Held-out examples with gold labels."""

    @property
    def longest(self) -> int:
        """The number of bytes per word that a language model reads; 0 without one."""

    @property
    def discontinuous(self) -> Collection[str]:
        """The names of outputs that are discontinuous where two inputs are equal (``proof``)."""

    def write(self, graph: Graph) -> Graphs:
        """Write the network into an empty graph."""

    def batches(self, samples: int) -> Iterator[Batch]:
        """Yield the first ``samples`` examples, in batches of similar length."""

    def trained(self, batch: Batch) -> Arrays:
        """Return the outputs of the network for a batch."""

    def shipped(self, bundle: Any) -> Callable[[Batch], Arrays]:
        """Return a function that computes the outputs of a bundle for a batch, under the same names."""

    def score_answers(self, bundle: Any) -> ScoredAnswers:
        """Score the predictions of a bundle for all examples."""

    def standalone(self, bundle: Any) -> Standalone:
        """Return the whole model as one graph with the predictions of ``bundle``."""


def model_summary(model: nn.Module) -> dict[str, Any]:
    """Describe the model: the type and number of weights of each part, and torch's description."""
    return {
        "parts": {name: type(part).__name__ for name, part in model.named_children()},
        "weights": {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()},
        "description": str(model),
    }
