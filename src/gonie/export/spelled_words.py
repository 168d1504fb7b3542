"""The words of a language model as a piece of graph: from their bytes to a vector each."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from gonie.export.compact import compact
from gonie.export.graph import Graph
from gonie.nn.bilm import SpelledWords


def spelled_words(graph: Graph, part: SpelledWords, chars: str) -> str:
    """The vectors (U, P) of words given by their bytes (U, C)."""
    table = compact(graph, part.bytes.weight)  # (262, D)
    found = [_largest(graph, convolution, table, chars) for convolution in part.convolutions]
    x = graph.add("Relu", graph.add("Concat", *found, axis=1))  # (U, filters)
    for highway in part.highways:
        x = _highway(graph, highway, x)
    return _linear(graph, x, part.projection)


def _largest(graph: Graph, convolution: Any, table: str, chars: str) -> str:
    """What each filter finds at the place where it finds most, as one product over all windows: (U, n)."""
    weight: Tensor = convolution.weight  # (n, D, kernel)
    number, width, kernel = weight.shape
    places = graph.longest - kernel + 1
    seen = graph.weight(np.arange(places)[:, None] + np.arange(kernel))  # (places, kernel)
    vectors = graph.add("Gather", table, graph.add("Gather", chars, seen, axis=1), axis=0)
    windows = graph.add("Reshape", vectors, graph.weight([-1, kernel * width]))  # (U * places, kernel * D)
    filters = compact(graph, weight.permute(0, 2, 1).flatten(1))  # (n, kernel * D)
    found = graph.add("Gemm", windows, filters, compact(graph, convolution.bias), transB=1)
    by_word = graph.add("Reshape", found, graph.weight([-1, places, number]))
    return graph.add("ReduceMax", by_word, graph.weight([1]), keepdims=0)


def _highway(graph: Graph, part: Any, x: str) -> str:
    """x + g ∘ (relu(W x + b) - x): (U, D) -> (U, D)."""
    changed = graph.add("Relu", _linear(graph, x, part.transform))
    gate = graph.add("Sigmoid", _linear(graph, x, part.gate))
    return graph.add("Add", x, graph.add("Mul", gate, graph.add("Sub", changed, x)))


def _linear(graph: Graph, x: str, part: Any) -> str:
    """W x + b: (U, D) -> (U, H)."""
    return graph.add("Gemm", x, compact(graph, part.weight), compact(graph, part.bias), transB=1)
