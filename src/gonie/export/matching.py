"""The ONNX graph of each matching of two texts.

The texts of a batch are its B rows. ``places`` (N, 2) holds the rows of the first and the second text of each
pair. Here they are arranged in two halves, all first texts before all second ones: (2N, T, …). Every text has
at least one token.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto

from gonie.export.encoders import states
from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.export.poolings import LOWEST, pooling
from gonie.export.rows import Sentences
from gonie.nn.matching import (
    AlignedMatching,
    CoAttention,
    Enhancement,
    HeuristicMatching,
    PooledMatching,
    Projection,
)


class Sides:
    """The texts of a batch in two halves, as rows for a part: 2N in place of B."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._all = Sentences(graph)

    @cached_property
    def order(self) -> str:
        """The row of each text in the batch, first texts first: (2N,)."""
        columns = self._graph.add("Transpose", self._graph.input("places"), perm=[1, 0])  # (2, N)
        return self._graph.add("Reshape", columns, self._graph.weight([-1]))

    @cached_property
    def lengths(self) -> str:
        """The number of tokens of each text: (2N,) int32."""
        return self.of(self._all.lengths)

    @cached_property
    def mask(self) -> str:
        """True at real tokens: (2N, T) bool."""
        return self.of(self._all.mask)

    def of(self, rows: str) -> str:
        """Arrange the rows of the batch in two halves: (B, …) -> (2N, …)."""
        return self._graph.add("Gather", rows, self.order, axis=0)

    def back(self, values: str) -> str:
        """Arrange values of tokens (2N, T) as in the batch: (B, T)."""
        graph = self._graph
        nothing = graph.add("ConstantOfShape", graph.add("Shape", self._all.mask))  # zeros (B, T)
        at = graph.add("Unsqueeze", self.order, graph.weight([1]))  # (2N, 1); no row twice
        return graph.add("ScatterND", nothing, at, values)


class MatchedValues(NamedTuple):
    """The names of the vectors of the pairs (N, P) and of the shares of their tokens (2N, T)."""

    vectors: str
    shares: str


def matching(graph: Graph, part: object, x: str, sides: Sides) -> MatchedValues:
    """Add the matching ``part`` over the states ``x`` (2N, T, H) of pairs of texts."""
    return look_up("matching", part, MATCHINGS)(graph, part, x, sides)


# --- matchings -------------------------------------------------------------------------------------------


def pooled(graph: Graph, part: PooledMatching, x: str, sides: Sides) -> MatchedValues:
    """Pool each text into a vector, and compare the two."""
    vectors, weights = pooling(graph, part.pooling, x, sides)
    return MatchedValues(comparison(graph, part.comparison, *_halves(graph, vectors)), weights)


def aligned(graph: Graph, part: AlignedMatching, x: str, sides: Sides) -> MatchedValues:
    """Align each token with the other text, compose and pool the result, and compare the two texts."""
    real = graph.add("Where", _column(graph, sides.mask), x, _number(graph, 0.0))  # (2N, T, H)
    found, shares = co_attention(graph, part.attention, real, sides.mask)
    enhanced = enhancement(graph, part.enhancement, real, found)  # (2N, T, 4H)
    composed = states(graph, part.composition, projection(graph, part.projection, enhanced), sides)
    assert composed is not None  # as there is something to compose
    vectors, _ = pooling(graph, part.pooling, composed, sides)  # (2N, P)
    return MatchedValues(comparison(graph, part.comparison, *_halves(graph, vectors)), shares)


# --- their parts -----------------------------------------------------------------------------------------


def co_attention(graph: Graph, part: CoAttention, x: str, mask: str) -> tuple[str, str]:
    """Return the vector that each token is aligned with (2N, T, H), and the attention it receives (2N, T).

    ``x`` (2N, T, H) is zero at padding, ``mask`` is (2N, T).
    """
    first, second = _halves(graph, x)  # (N, T, H) each
    first_mask, second_mask = _halves(graph, mask)  # (N, T) each
    scores = graph.add("MatMul", first, _transposed(graph, second))  # (N, T, T)
    of_second = _attended(graph, _transposed(graph, scores), first_mask)  # (N, T, T): by tokens of the second
    of_first = _attended(graph, scores, second_mask)  # (N, T, T): by tokens of the first
    meant = graph.add("MatMul", of_first, second), graph.add("MatMul", of_second, first)
    shares = _received(graph, of_second, second_mask), _received(graph, of_first, first_mask)
    return graph.add("Concat", *meant, axis=0), graph.add("Concat", *shares, axis=0)


def _attended(graph: Graph, scores: str, mask: str) -> str:
    """Return the softmax of each row over the real tokens of the other text: (N, T, T), ``mask`` (N, T)."""
    real = graph.add("Unsqueeze", mask, graph.weight([1]))  # (N, 1, T)
    return graph.add("Softmax", graph.add("Where", real, scores, _number(graph, LOWEST)), axis=2)


def _received(graph: Graph, weights: str, mask: str) -> str:
    """Average the attention over the attending real tokens of ``mask`` (N, T): (N, T, T) -> (N, T)."""
    real = graph.add("Cast", mask, to=TensorProto.FLOAT)  # (N, T)
    shares = graph.add("Div", real, graph.add("ReduceSum", real, graph.weight([1])))  # (N, T)
    row = graph.add("Unsqueeze", shares, graph.weight([1]))  # (N, 1, T)
    return graph.add("Squeeze", graph.add("MatMul", row, weights), graph.weight([1]))


def enhancement(graph: Graph, part: Enhancement, x: str, found: str) -> str:
    """Return [a; ã; a − ã; a ∘ ã]: (…, H), (…, H) -> (…, 4H)."""
    parts = (x, found, graph.add("Sub", x, found), graph.add("Mul", x, found))
    return graph.add("Concat", *parts, axis=-1)


def comparison(graph: Graph, part: HeuristicMatching, first: str, second: str) -> str:
    """Return [u; v; |u − v|; u ∘ v]: (N, P), (N, P) -> (N, 4P)."""
    apart = graph.add("Abs", graph.add("Sub", first, second))
    return graph.add("Concat", first, second, apart, graph.add("Mul", first, second), axis=-1)


def projection(graph: Graph, part: Projection, x: str) -> str:
    """Return max(0, W x + b): (…, D) -> (…, H)."""
    return graph.add("Relu", graph.linear(x, part.layer.weight, part.layer.bias))


# --- pieces ----------------------------------------------------------------------------------------------


def _halves(graph: Graph, x: str) -> list[str]:
    """Split into the first texts and the second ones: (2N, …) -> (N, …) each."""
    return graph.several("Split", x, results=2, axis=0, num_outputs=2)


def _transposed(graph: Graph, x: str) -> str:
    """Transpose (N, T, H) to (N, H, T)."""
    return graph.add("Transpose", x, perm=[0, 2, 1])


def _column(graph: Graph, mask: str) -> str:
    """Reshape a mask (N, T) to (N, T, 1), for all features at once."""
    return graph.add("Unsqueeze", mask, graph.weight([2]))


def _number(graph: Graph, number: float) -> str:
    return graph.weight(np.array(number, dtype=np.float32))


MATCHINGS: dict[type, Callable[[Graph, Any, str, Sides], MatchedValues]] = {
    PooledMatching: pooled,
    AlignedMatching: aligned,
}
"""The graph function of each matching."""
