"""Filters over the letters of words as a piece of graph: one product over all windows, laid side by side.

Over a few channels, and many short words, that is several times as fast as ONNX Runtime's convolution.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from gonie.export.graph import Graph

Constant = Callable[[Graph, Tensor], str]
"""Puts weights into a graph, and names them."""


def largest(
    graph: Graph, windows: str, vectors: str, weight: Tensor, bias: Tensor, *, constant: Constant
) -> str:
    """What each filter finds at the place where it finds most: (U, filters).

    ``windows`` (U, places, kernel) are rows of ``vectors`` (letters, D), ``weight`` is (filters, D, kernel).
    """
    filters, width, kernel = weight.shape
    laid = graph.add("Gather", vectors, windows, axis=0)  # (U, places, kernel, D)
    rows = graph.add("Reshape", laid, graph.weight([-1, kernel * width]))  # (U * places, kernel * D)
    flat = constant(graph, weight.permute(0, 2, 1).flatten(1))  # (filters, kernel * D)
    found = graph.add("Gemm", rows, flat, constant(graph, bias), transB=1)
    places = graph.add("Shape", windows, start=1, end=2)
    shape = graph.add("Concat", graph.weight([-1]), places, graph.weight([filters]), axis=0)
    return graph.add("ReduceMax", graph.add("Reshape", found, shape), graph.weight([1]), keepdims=0)
