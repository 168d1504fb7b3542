"""The scores of a head as a piece of graph; its loss and its chain are not part of the graph."""

from __future__ import annotations

from gonie.export.graph import Graph
from gonie.export.sums import feature_sums
from gonie.nn.heads import Scores


def scores(graph: Graph, part: Scores, states: str | None) -> str:
    """W states + b + the direct weights of the features that fire: (B, T, H) -> (B, T, K)."""
    total = _linear(graph, part, states)
    for direct in part.direct.values():
        total = graph.add("Add", total, feature_sums(graph, direct.group, direct.weight))  # type: ignore[arg-type]
    return total


def _linear(graph: Graph, part: Scores, states: str | None) -> str:
    bias = graph.weight(part.bias)
    if part.weight is None or states is None:  # a model of direct features alone
        shape = graph.add("Shape", graph.input("mask"))  # [B, T]
        return graph.add("Expand", bias, graph.add("Concat", shape, graph.weight([part.num_tags]), axis=0))
    return graph.add("Add", graph.add("MatMul", states, graph.weight(part.weight.T)), bias)
