"""The ONNX graph of the scores of a tagger's head, without its loss and its chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.export.sums import feature_sums
from gonie.export.support_scores import support_scores
from gonie.nn.heads import CRFHead, PartScores, Scores, SigmoidHead, SoftmaxHead, SupportHead

HeadGraph = Callable[[Graph, Any, str | None], tuple[str, int]]


def head_scores(graph: Graph, head: object, states: str | None) -> tuple[str, int]:
    """Return the scores (B, T, K) of the tags from ``states`` (B, T, H), and K."""
    return look_up("head", head, HEADS)(graph, head, states)


def each_tag(graph: Graph, head: CRFHead | SoftmaxHead, states: str | None) -> tuple[str, int]:
    """Return a score for each tag."""
    return scores(graph, head.scores, states), head.scores.num_tags


def sigmoid(graph: Graph, head: SigmoidHead, states: str | None) -> tuple[str, int]:
    """Return the single score of the other tag, and a column of 0 for the outside tag."""
    total = scores(graph, head.scores, states)  # (B, T, 1)
    pads = [0, 0, 1 - head.outside, 0, 0, head.outside]
    return graph.add("Pad", total, graph.weight(pads)), 2


def support(graph: Graph, head: SupportHead, states: str | None) -> tuple[str, int]:
    """Return the scores by distances to the support."""
    return support_scores(graph, head.scores, states or ""), head.scores.num_tags


def scores(graph: Graph, part: Scores | PartScores, states: str | None) -> str:
    """Return W states + b + the direct weights of the active features: (B, T, H) -> (B, T, K)."""
    total = _linear(graph, part, states)
    for direct in part.direct.values():
        total = graph.add("Add", total, feature_sums(graph, direct.group, direct.weight))  # type: ignore[arg-type]
    return total


def _linear(graph: Graph, part: Scores | PartScores, states: str | None) -> str:
    if part.weight is None or states is None:  # a model of direct features alone
        shape = graph.add("Shape", graph.input("mask"))  # [B, T]
        return graph.add(
            "Expand",
            graph.weight(part.bias),
            graph.add("Concat", shape, graph.weight([part.num_tags]), axis=0),
        )
    return graph.linear(states, part.weight, part.bias)


HEADS: dict[type, HeadGraph] = {
    CRFHead: each_tag,
    SoftmaxHead: each_tag,
    SigmoidHead: sigmoid,
    SupportHead: support,
}
"""The graph function of each head over tokens."""
