"""The ONNX graph of the scores of a head over the vectors of texts, without its loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.export.sums import bag_sums
from gonie.export.support_scores import support_scores
from gonie.nn.heads import MultiLabelHead, TextScores, TextSigmoidHead, TextSoftmaxHead, TextSupportHead
from gonie.nn.heads.text_value import TextValueHead

TextHeadGraph = Callable[[Graph, Any, str], tuple[str, int]]


def text_head_scores(graph: Graph, head: object, vectors: str) -> tuple[str, int]:
    """Return the scores (N, K) of the labels from ``vectors`` (N, P), and K."""
    return look_up("head", head, TEXT_HEADS)(graph, head, vectors)


def each_label(graph: Graph, head: TextSoftmaxHead | MultiLabelHead, vectors: str) -> tuple[str, int]:
    """Return a score for each label."""
    return text_scores(graph, head.scores, vectors), head.scores.num_labels


def sigmoid(graph: Graph, head: TextSigmoidHead, vectors: str) -> tuple[str, int]:
    """Return the single score of the second label, and a column of 0 for the first."""
    total = text_scores(graph, head.scores, vectors)  # (N, 1)
    return graph.add("Pad", total, graph.weight([0, 1, 0, 0])), 2


def value(graph: Graph, head: TextValueHead, vectors: str) -> tuple[str, int]:
    """Return the single value low + (high − low) · sigmoid(z)."""
    shares = graph.add("Sigmoid", text_scores(graph, head.scores, vectors))  # (N, 1)
    scaled = graph.add("Mul", shares, _number(graph, head.high - head.low))
    return graph.add("Add", scaled, _number(graph, head.low)), 1


def support(graph: Graph, head: TextSupportHead, vectors: str) -> tuple[str, int]:
    """Return the scores by distances to the support."""
    return support_scores(graph, head.scores, vectors), head.scores.num_tags


def text_scores(graph: Graph, part: TextScores, vectors: str) -> str:
    """Return W vectors + b + the direct weights of the n-grams of each text: (N, P) -> (N, K)."""
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


def _number(graph: Graph, number: float) -> str:
    return graph.weight(np.array(number, dtype=np.float32))


TEXT_HEADS: dict[type, TextHeadGraph] = {
    TextSoftmaxHead: each_label,
    TextSigmoidHead: sigmoid,
    MultiLabelHead: each_label,
    TextSupportHead: support,
    TextValueHead: value,
}
"""The graph function of each head over texts."""
