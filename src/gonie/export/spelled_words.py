"""The ONNX graph of the word encoder of a language model, from the bytes of words to vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto
from torch import Tensor

from gonie.export.compact import compact
from gonie.export.graph import Graph
from gonie.features.byte_spelling import PADDING
from gonie.nn.bilm import SpelledWords

END = 2**63 - 1  # the end of an axis of any length


def spelled_words(graph: Graph, part: SpelledWords, chars: str) -> str:
    """Return the vectors (U, P) of words given by their bytes (U, C)."""
    table = compact(graph, part.bytes.weight)  # (262, D)
    chars = _trim(graph, chars, part.widest)
    found = [_max_filters(graph, convolution, table, chars) for convolution in part.convolutions]
    x = graph.add("Relu", graph.add("Concat", *found, axis=1))  # (U, filters)
    for highway in part.highways:
        x = _highway(graph, highway, x)
    return _linear(graph, x, part.projection)


def _trim(graph: Graph, chars: str, widest: int) -> str:
    """Cut the bytes to (U, C'): the longest word, plus one whole window of padding.

    All windows over padding are equal, so the cut does not change any maximum.
    """
    given = graph.add("Less", chars, graph.weight(np.array(PADDING)))
    whole = graph.add("Cast", given, to=TensorProto.INT64)
    lengths = graph.add("ReduceSum", whole, graph.weight([1]), keepdims=0)  # (U,)
    most = graph.add("ReduceMax", lengths, graph.weight([0]), keepdims=1)  # (1,)
    end = graph.add("Add", most, graph.weight([widest]))
    return graph.add("Slice", chars, graph.weight([0]), end, graph.weight([1]))


def _max_filters(graph: Graph, convolution: Any, table: str, chars: str) -> str:
    """Return the maximum of each filter of one convolution: (U, n)."""
    weight: Tensor = convolution.weight  # (n, D, kernel)
    kernel = weight.shape[2]
    inner = graph.add("Slice", chars, graph.weight([0]), graph.weight([1 - kernel or END]), graph.weight([1]))
    places = graph.add("Unsqueeze", graph.positions(inner, axis=1), graph.weight([1]))  # (places, 1)
    seen = graph.add("Add", places, graph.weight(np.arange(kernel)))  # (places, kernel)
    windows = graph.add("Gather", chars, seen, axis=1)  # (U, places, kernel)
    return max_over_windows(graph, windows, table, weight, convolution.bias)


def max_over_windows(graph: Graph, windows: str, vectors: str, weight: Tensor, bias: Tensor) -> str:
    """Return the maximum of each filter over all positions: (U, filters).

    ``windows`` (U, places, kernel) are row indices of ``vectors`` (bytes, D). ``weight`` is (filters, D,
    kernel). This is one product over all windows. With few channels and many short words, it is several times
    faster than the convolution of ONNX Runtime.
    """
    filters, width, kernel = weight.shape
    unfolded = graph.add("Gather", vectors, windows, axis=0)  # (U, places, kernel, D)
    rows = graph.add("Reshape", unfolded, graph.weight([-1, kernel * width]))  # (U * places, kernel * D)
    flat = compact(graph, weight.permute(0, 2, 1).flatten(1))  # (filters, kernel * D)
    found = graph.add("Gemm", rows, flat, compact(graph, bias), transB=1)
    places = graph.add("Shape", windows, start=1, end=2)
    shape = graph.add("Concat", graph.weight([-1]), places, graph.weight([filters]), axis=0)
    return graph.add("ReduceMax", graph.add("Reshape", found, shape), graph.weight([1]), keepdims=0)


def _highway(graph: Graph, part: Any, x: str) -> str:
    """Return x + g ∘ (relu(W x + b) - x): (U, D) -> (U, D)."""
    changed = graph.add("Relu", _linear(graph, x, part.transform))
    gate = graph.add("Sigmoid", _linear(graph, x, part.gate))
    return graph.add("Add", x, graph.add("Mul", gate, graph.add("Sub", changed, x)))


def _linear(graph: Graph, x: str, part: Any) -> str:
    """Return W x + b: (U, D) -> (U, H)."""
    return graph.add("Gemm", x, compact(graph, part.weight), compact(graph, part.bias), transB=1)
