"""The ONNX graph of scores by distances to support states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.nn.heads.nearest_scores import NearestScores
from gonie.nn.heads.prototype_scores import PrototypeScores
from gonie.nn.heads.spaces import SHORTEST, Cosine, Euclidean, Mahalanobis

ScoresGraph = Callable[[Graph, Any, str], str]


def support_scores(graph: Graph, part: object, states: str) -> str:
    """Return the scores (…, K) of ``states`` (…, H)."""
    return look_up("scores", part, SCORES)(graph, part, states)


def prototypes(graph: Graph, part: PrototypeScores, states: str) -> str:
    """Return W f(states) + b."""
    return graph.linear(_vectors(graph, part.space, states), part.weight, part.bias)


def nearest(graph: Graph, part: NearestScores, states: str) -> str:
    """Return the maximum of W f(states) + b over the rows of each tag, which are next to each other."""
    closeness = graph.linear(_vectors(graph, part.space, states), part.weight, part.bias)  # (…, n)
    sizes = graph.weight(part.sizes.tolist())
    rows = graph.several("Split", closeness, sizes, results=part.num_tags, axis=-1)
    best = [graph.add("ReduceMax", each, graph.weight([-1]), keepdims=1) for each in rows]
    return graph.add("Concat", *best, axis=-1)


def _vectors(graph: Graph, space: object, states: str) -> str:
    """Return the vectors whose squared distances are compared."""
    return look_up("space", space, SPACES)(graph, space, states)


def _as_they_are(graph: Graph, space: Euclidean, states: str) -> str:
    return states


def _directions(graph: Graph, space: Cosine | Mahalanobis, states: str) -> str:
    squares = graph.add("ReduceSum", graph.add("Mul", states, states), graph.weight([-1]), keepdims=1)
    lengths = graph.add("Sqrt", squares)  # (…, 1)
    shortest = graph.weight(np.array(SHORTEST, dtype=np.float32))
    return graph.add("Div", states, graph.add("Max", lengths, shortest))


def _scaled(graph: Graph, space: Mahalanobis, states: str) -> str:
    return graph.add("MatMul", _directions(graph, space, states), graph.weight(space.matrix.T))


SCORES: dict[type, ScoresGraph] = {PrototypeScores: prototypes, NearestScores: nearest}
"""The graph function of each kind of scores."""
SPACES: dict[type, ScoresGraph] = {
    Cosine: _directions,
    Euclidean: _as_they_are,
    Mahalanobis: _scaled,
}
"""The graph function of each space."""
