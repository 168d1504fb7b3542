"""The ONNX graph of filters over the letters of words, as one product over all windows.

With few channels and many short words this is several times faster than the convolution of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from gonie.export.graph import Graph

Constant = Callable[[Graph, Tensor], str]
"""Adds weights to a graph and returns their name."""


def largest(
    graph: Graph, windows: str, vectors: str, weight: Tensor, bias: Tensor, *, constant: Constant
) -> str:
    """Return the maximum of each filter over all positions: (U, filters).

    ``windows`` (U, places, kernel) are row indices of ``vectors`` (letters, D). ``weight`` is (filters, D,
    kernel).
    """
    filters, width, kernel = weight.shape
    laid = graph.add("Gather", vectors, windows, axis=0)  # (U, places, kernel, D)
    rows = graph.add("Reshape", laid, graph.weight([-1, kernel * width]))  # (U * places, kernel * D)
    flat = constant(graph, weight.permute(0, 2, 1).flatten(1))  # (filters, kernel * D)
    found = graph.add("Gemm", rows, flat, constant(graph, bias), transB=1)
    places = graph.add("Shape", windows, start=1, end=2)
    shape = graph.add("Concat", graph.weight([-1]), places, graph.weight([filters]), axis=0)
    return graph.add("ReduceMax", graph.add("Reshape", found, shape), graph.weight([1]), keepdims=0)
