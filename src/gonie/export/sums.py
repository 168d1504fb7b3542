"""Sums over sparse features: the graph of ``embedding_bag`` over flat ids."""

from __future__ import annotations

from torch import Tensor

from gonie.export.graph import Graph


def feature_sums(graph: Graph, group: str, table: Tensor) -> str:
    """The sum of the rows of ``table`` (V, D) that fire at each position, 0 where none does: (B, T, D).

    ScatterElements, not ScatterND: the latter adds from several threads without a lock in onnxruntime
    (microsoft/onnxruntime#23396), and many features share a position.
    """
    ids, rows = graph.features(group)  # (F,), (F,)
    width = graph.weight([table.shape[1]])
    picked = graph.add("Gather", graph.weight(table), ids, axis=0)  # (F, D)
    columns = graph.add("Unsqueeze", rows, graph.weight([1]))  # (F, 1)
    places = graph.add("Expand", columns, graph.add("Shape", picked))  # (F, D)
    mask = graph.input("mask")
    cells = graph.add("Unsqueeze", graph.add("Size", mask), graph.weight([0]))  # [B * T]
    zeros = graph.add("ConstantOfShape", graph.add("Concat", cells, width, axis=0))  # (B * T, D)
    summed = graph.add("ScatterElements", zeros, places, picked, axis=0, reduction="add")
    shape = graph.add("Concat", graph.add("Shape", mask), width, axis=0)  # [B, T, D]
    return graph.add("Reshape", summed, shape)
