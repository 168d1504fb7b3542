"""The ONNX graph of each pooling: (B, T, H) -> (B, P) and the weight of each token (B, T), 0 at padding.

Every row has at least one token.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto
from torch import Tensor, nn

from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.export.rows import Rows
from gonie.nn.batch_norm import BatchNorm
from gonie.nn.poolings import AdditiveAttention, DotAttention, Joined, Last, Max, Mean, Normalized

EPSILON = 1e-5  # of F.batch_norm, the default of BatchNorm
LOWEST = float(np.finfo(np.float32).min)


class PooledValues(NamedTuple):
    """The names of the vectors (B, P) of the rows and of the weights (B, T) of their tokens."""

    vectors: str
    weights: str


def pooling(graph: Graph, part: object, x: str, rows: Rows) -> PooledValues:
    """Add the pooling ``part`` over states ``x`` (B, T, H)."""
    return look_up("pooling", part, POOLINGS)(graph, part, x, rows)


# --- attention -------------------------------------------------------------------------------------------


def additive(graph: Graph, part: AdditiveAttention, x: str, rows: Rows) -> PooledValues:
    """Add attention whose keys are the states after a small network."""
    inner = graph.add("Tanh", graph.linear(x, part.layer.weight, part.layer.bias))  # (B, T, hidden)
    return _attended(graph, inner, part.queries, x, rows)


def dot(graph: Graph, part: DotAttention, x: str, rows: Rows) -> PooledValues:
    """Add attention whose keys are the states themselves."""
    return _attended(graph, x, part.queries / math.sqrt(part.input_width), x, rows)


def _attended(graph: Graph, keys: str, queries: Tensor, x: str, rows: Rows) -> PooledValues:
    """Return Σt α[t] x[t], where α is the softmax of ``keys`` times ``queries`` over the real tokens."""
    scores = graph.add("MatMul", keys, graph.weight(queries.T))  # (B, T, heads)
    shares = graph.add("Softmax", _only(graph, scores, rows.mask, LOWEST), axis=1)  # 0 at padding
    turned = graph.add("Transpose", shares, perm=[0, 2, 1])  # (B, heads, T)
    sums = graph.add("MatMul", turned, _only(graph, x, rows.mask))  # (B, heads, H)
    weights = graph.add("ReduceMean", shares, graph.weight([2]), keepdims=0)
    return PooledValues(graph.add("Flatten", sums, axis=1), weights)


# --- without weights of their own ------------------------------------------------------------------------


def mean(graph: Graph, part: Mean, x: str, rows: Rows) -> PooledValues:
    """Average all tokens."""
    real = graph.add("Cast", rows.mask, to=TensorProto.FLOAT)  # (B, T)
    tokens = graph.add("ReduceSum", real, graph.weight([1]))  # (B, 1)
    return PooledValues(
        graph.add("Div", _sums(graph, _only(graph, x, rows.mask)), tokens),
        graph.add("Div", real, tokens),
    )


def maximum(graph: Graph, part: Max, x: str, rows: Rows) -> PooledValues:
    """Take the maximum of each feature. Tokens with equal maxima share the weight."""
    best = graph.add("ReduceMax", _only(graph, x, rows.mask, -np.inf), graph.weight([1]))  # (B, 1, H)
    equal = graph.add("And", graph.add("Equal", x, best), _column(graph, rows.mask))
    won = graph.add("Cast", equal, to=TensorProto.FLOAT)  # (B, T, H)
    shares = graph.add("Div", won, graph.add("ReduceSum", won, graph.weight([1])))
    weights = graph.add("ReduceMean", shares, graph.weight([2]), keepdims=0)
    return PooledValues(graph.add("Squeeze", best, graph.weight([1])), weights)


def last(graph: Graph, part: Last, x: str, rows: Rows) -> PooledValues:
    """Take the state of the last token or, for two directions, the final state of each."""
    at = graph.add("Cast", graph.positions(rows.mask, axis=1), to=TensorProto.INT32)  # (T,)
    one = graph.weight(np.array([1], dtype=np.int32))
    ends = graph.add("Unsqueeze", graph.add("Sub", rows.lengths, one), graph.weight([1]))  # (B, 1)
    final = graph.add("Equal", at, ends)  # (B, T)
    ahead = _sums(graph, _only(graph, x, final))  # (B, H)
    if not part.both_ways:
        return PooledValues(ahead, graph.add("Cast", final, to=TensorProto.FLOAT))
    first = graph.add("And", graph.add("Less", at, one), rows.mask)  # (B, T)
    back = _sums(graph, _only(graph, x, first))  # (B, H)
    halves = _columns(graph, ahead, 0, part.width // 2), _columns(graph, back, part.width // 2, part.width)
    ends_of = (graph.add("Cast", chosen, to=TensorProto.FLOAT) for chosen in (final, first))
    return PooledValues(graph.add("Concat", *halves, axis=1), graph.add("Mean", *ends_of))


# --- of other poolings -----------------------------------------------------------------------------------


def joined(graph: Graph, part: Joined, x: str, rows: Rows) -> PooledValues:
    """Concatenate several poolings."""
    parts = [pooling(graph, inner, x, rows) for inner in part.parts]
    return PooledValues(
        graph.add("Concat", *(each.vectors for each in parts), axis=1),
        graph.add("Mean", *(each.weights for each in parts)),
    )


def normalized(graph: Graph, part: Normalized, x: str, rows: Rows) -> PooledValues:
    """Normalise the vector of a pooling."""
    write = look_up("norm", part.norm, NORMS)
    vectors, weights = pooling(graph, part.pooling, x, rows)
    return PooledValues(write(graph, part.norm, vectors), weights)


def layer_norm(graph: Graph, part: nn.LayerNorm, vectors: str) -> str:
    """Normalise each vector to mean 0 and variance 1, then scale and shift each feature."""
    scale, shift = graph.weight(part.weight), graph.weight(part.bias)
    return graph.add("LayerNormalization", vectors, scale, shift, axis=-1, epsilon=part.eps)


def batch_norm(graph: Graph, part: BatchNorm, vectors: str) -> str:
    """Scale and shift each feature. At inference the averages are constants."""
    scale = part.weight.detach() / (part.variance + EPSILON).sqrt()
    shift = part.bias.detach() - part.mean * scale
    return graph.add("Add", graph.add("Mul", vectors, graph.weight(scale)), graph.weight(shift))


# --- pieces ----------------------------------------------------------------------------------------------


def _column(graph: Graph, mask: str) -> str:
    """Reshape a mask (B, T) to (B, T, 1), for all features at once."""
    return graph.add("Unsqueeze", mask, graph.weight([2]))


def _only(graph: Graph, x: str, mask: str, other: float = 0.0) -> str:
    """Return ``x`` (B, T, H) where the mask (B, T) is true, else ``other``."""
    return graph.add("Where", _column(graph, mask), x, graph.weight(np.array(other, dtype=np.float32)))


def _sums(graph: Graph, x: str) -> str:
    """Sum over the tokens: (B, T, H) -> (B, H)."""
    return graph.add("ReduceSum", x, graph.weight([1]), keepdims=0)


def _columns(graph: Graph, x: str, start: int, end: int) -> str:
    """Return columns [start, end) of ``x`` (B, H)."""
    return graph.add("Slice", x, graph.weight([start]), graph.weight([end]), graph.weight([1]))


POOLINGS: dict[type, Callable[[Graph, Any, str, Rows], PooledValues]] = {
    AdditiveAttention: additive,
    DotAttention: dot,
    Mean: mean,
    Max: maximum,
    Last: last,
    Joined: joined,
    Normalized: normalized,
}
"""The graph function of each pooling."""
NORMS: dict[type, Callable[[Graph, Any, str], str]] = {nn.LayerNorm: layer_norm, BatchNorm: batch_norm}
