"""The ONNX graph of sums over sparse features: ``embedding_bag`` over flat ids."""

from __future__ import annotations

from onnx import TensorProto
from torch import Tensor

from gonie.export.graph import Graph
from gonie.nn.bag import Bag


def feature_sums(graph: Graph, group: str, table: Tensor) -> str:
    """Sum the rows of ``table`` (V, D) of the features at each position, 0 if there are none: (B, T, D)."""
    mask = graph.input("mask")
    cells = graph.add("Unsqueeze", graph.add("Size", mask), graph.weight([0]))  # [B * T]
    summed = _sums(graph, group, table, cells)  # (B * T, D)
    shape = graph.add("Concat", graph.add("Shape", mask), graph.weight([table.shape[1]]), axis=0)
    return graph.add("Reshape", summed, shape)


def bag_sums(graph: Graph, part: Bag) -> str:
    """Sum the n-gram vectors of each text and divide by the square root of their number: (N, width)."""
    offsets = graph.offsets(part.group)  # (N + 1,)
    ends = graph.add("Slice", offsets, graph.weight([1]), graph.add("Shape", offsets))  # (N,)
    starts = graph.add("Slice", offsets, graph.weight([0]), graph.weight([-1]))  # (N,)
    summed = _sums(graph, part.group, part.weight, graph.add("Shape", ends))  # (N, width)
    counts = graph.add("Max", graph.add("Sub", ends, starts), graph.weight([1]))  # (N,)
    roots = graph.add("Sqrt", graph.add("Cast", counts, to=TensorProto.FLOAT))
    return graph.add("Div", summed, graph.add("Unsqueeze", roots, graph.weight([1])))


def _sums(graph: Graph, group: str, table: Tensor, number: str) -> str:
    """Return the sums at each of ``number`` [R] positions: (R, D)."""
    ids, rows = graph.features(group)  # (F,), (F,)
    return scattered_sums(graph, graph.rows(table, ids), rows, number, table.shape[1])


def scattered_sums(graph: Graph, picked: str, rows: str, number: str, width: int) -> str:
    """Return the sums of vectors (F, D) by their ``rows`` (F,), for ``number`` [R] rows: (R, D).

    It uses ScatterElements because ScatterND of onnxruntime adds from several threads without a lock
    (microsoft/onnxruntime#23396), and many features share a position.
    """
    columns = graph.add("Unsqueeze", rows, graph.weight([1]))  # (F, 1)
    places = graph.add("Expand", columns, graph.add("Shape", picked))  # (F, D)
    zeros = graph.add("ConstantOfShape", graph.add("Concat", number, graph.weight([width]), axis=0))
    return graph.add("ScatterElements", zeros, places, picked, axis=0, reduction="add")
