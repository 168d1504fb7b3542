"""The scores of a classifier's head as a piece of graph; its loss is not part of the graph."""

from __future__ import annotations

from gonie.export.graph import Graph
from gonie.export.refusal import unknown
from gonie.export.sums import bag_sums
from gonie.nn.heads import MultiLabelHead, TextScores, TextSigmoidHead, TextSoftmaxHead

TEXT_HEADS = (TextSoftmaxHead, TextSigmoidHead, MultiLabelHead)


def text_head_scores(graph: Graph, head: object, vectors: str) -> tuple[str, int]:
    """Scores (N, K) of the labels as the head gives them, and K."""
    if not isinstance(head, TEXT_HEADS):
        raise unknown("head", head, TEXT_HEADS)
    total = text_scores(graph, head.scores, vectors)
    if not isinstance(head, TextSigmoidHead):
        return total, head.scores.num_labels
    return graph.add("Pad", total, graph.weight([0, 1, 0, 0])), 2  # a column of 0 for the first label


def text_scores(graph: Graph, part: TextScores, vectors: str) -> str:
    """W vectors + b + the direct weights of the n-grams of each text: (N, P) -> (N, K)."""
    total = _linear(graph, part, vectors)
    for direct in part.direct.values():
        total = graph.add("Add", total, bag_sums(graph, direct))  # type: ignore[arg-type]
    return total


def _linear(graph: Graph, part: TextScores, vectors: str) -> str:
    if part.weight is not None:
        return graph.linear(vectors, part.weight, part.bias)
    texts = graph.add("Shape", graph.input("places"), end=1)  # [N]
    shape = graph.add("Concat", texts, graph.weight([part.num_labels]), axis=0)
    return graph.add("Expand", graph.weight(part.bias), shape)
