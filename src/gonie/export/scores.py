"""The scores of a head as a piece of graph; its loss and its chain are not part of the graph."""

from __future__ import annotations

from gonie.export.graph import Graph
from gonie.export.refusal import unknown
from gonie.export.sums import feature_sums
from gonie.nn.heads import CRFHead, Scores, SigmoidHead, SoftmaxHead

HEADS = (CRFHead, SoftmaxHead, SigmoidHead)


def head_scores(graph: Graph, head: object, states: str | None) -> tuple[str, int]:
    """Scores (B, T, K) of the tags as the head gives them, and K."""
    if not isinstance(head, HEADS):
        raise unknown("head", head, HEADS)
    total = scores(graph, head.scores, states)
    if not isinstance(head, SigmoidHead):
        return total, head.scores.num_tags
    pads = [0, 0, 1 - head.outside, 0, 0, head.outside]  # a column of 0 for the tag outside
    return graph.add("Pad", total, graph.weight(pads)), 2


def scores(graph: Graph, part: Scores, states: str | None) -> str:
    """W states + b + the direct weights of the features that fire: (B, T, H) -> (B, T, K)."""
    total = _linear(graph, part, states)
    for direct in part.direct.values():
        total = graph.add("Add", total, feature_sums(graph, direct.group, direct.weight))  # type: ignore[arg-type]
    return total


def _linear(graph: Graph, part: Scores, states: str | None) -> str:
    if part.weight is None or states is None:  # a model of direct features alone
        shape = graph.add("Shape", graph.input("mask"))  # [B, T]
        return graph.add(
            "Expand",
            graph.weight(part.bias),
            graph.add("Concat", shape, graph.weight([part.num_tags]), axis=0),
        )
    return graph.linear(states, part.weight, part.bias)
