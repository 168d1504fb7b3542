"""What becomes a bundle, whatever its task: the role that taggers and classifiers play in export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from gonie.export.graph import Graph
from gonie.export.proof import MaxDifference
from gonie.export.ranges import Ranges

BATCH_TOKENS, BATCH_SENTENCES = 2000, 32


class Judged(NamedTuple):
    """What a bundle says of held-out examples: its answers one by one, and their score by a metric."""

    answers: Sequence[object]
    metric: str
    score: float


class Exporter(Protocol):
    """A trained model, the bundle that training left of it, and held-out examples to try a new one on."""

    noun: str
    """What answers are called: tags, or labels."""

    @property
    def bundle(self) -> Any:
        """What training left."""
        ...

    @property
    def examples(self) -> Sequence[object]:
        """Held-out sentences or texts."""
        ...

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees; 0 where there is none."""
        ...

    def with_graph(self, graph: Graph) -> Any:
        """The bundle with its model written into an empty graph."""
        ...

    def whole(self) -> bytes:
        """One graph from ids to answers, proved to give those of the bundle."""
        ...

    def prove(self, bundle: Any, samples: int) -> MaxDifference:
        """Compare a bundle's scores with the model's on so many examples; refuse any difference."""
        ...

    def ranges(self, samples: int) -> Ranges:
        """How large the numbers of layers that can multiply in bytes are on so many examples."""
        ...

    def judge(self, bundle: Any) -> Judged:
        """What a bundle says of all the examples, and how good that is."""
        ...
