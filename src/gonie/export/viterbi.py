"""The ONNX graph of Viterbi decoding for a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from gonie.export.graph import Graph
from gonie.export.scan import scan

IMPOSSIBLE = -1e30  # instead of minus infinity, which not every runtime supports


def viterbi(graph: Graph, scores: str, chain: Sequence[NDArray[np.floating]]) -> str:
    """Return the best tag sequences (B, T) of ``scores`` (B, T, K), -1 after the end of a sentence.

    ``chain`` is transitions (K, K) [from, to], start (K,) and end (K,). Forbidden ones are minus infinity.
    """
    moves, start, end = (np.maximum(part, IMPOSSIBLE).astype(np.float32) for part in chain)
    best = _best_prefixes(graph, scores, moves, start)  # (T, B, K)
    times = graph.positions(best, axis=0)  # (T,)
    column = graph.add("Unsqueeze", times, graph.weight([1]))  # (T, 1)
    lengths = graph.input("lengths")  # (B,)
    ends = graph.add("Equal", column, graph.add("Sub", lengths, graph.weight([1])))  # (T, B)
    found = _backtrack(graph, best, ends, moves, end)  # (T, B), the last token first
    order = graph.add("Sub", graph.add("Shape", best, end=1), graph.add("Add", times, graph.weight([1])))
    tags = graph.add("Transpose", graph.add("Gather", found, order, axis=0), perm=[1, 0])  # (B, T)
    inside = graph.add("Less", graph.add("Unsqueeze", times, graph.weight([0])), _column(graph, lengths))
    return graph.add("Where", inside, graph.add("Cast", tags, to=TensorProto.INT64), graph.weight([-1]))


def _column(graph: Graph, value: str) -> str:
    return graph.add("Unsqueeze", value, graph.weight([1]))


def _best_prefixes(graph: Graph, scores: str, moves: NDArray[np.float32], start: NDArray[np.float32]) -> str:
    """Return at (t, b, k) the best score of a prefix of b with tag k at t, minus the best of all tags."""
    steps = graph.add("Transpose", scores, perm=[1, 0, 2])  # (T, B, K)
    first = graph.weight(np.concatenate([start, [1.0]]).astype(np.float32))  # with a flag: first step
    rows = graph.add("Shape", steps, start=1, end=2)  # [B]
    initial = graph.add("Expand", first, graph.add("Concat", rows, graph.weight([len(start) + 1]), axis=0))
    arriving, size = graph.weight(moves.T.copy()), len(start)  # (to, from)

    def step(inner: Graph, x: str, before: Sequence[str]) -> tuple[Sequence[str], str]:
        kept, mark = inner.several("Split", before[0], graph.weight([size, 1]), results=2, axis=1)
        reached = inner.add("Add", inner.add("Unsqueeze", kept, graph.weight([1])), arriving)  # (B, to, from)
        after = inner.add("ReduceMax", reached, graph.weight([2]), keepdims=0)  # (B, K)
        is_first = inner.add("Greater", mark, graph.weight(np.array(0.5, dtype=np.float32)))
        best = inner.add("Add", inner.add("Where", is_first, kept, after), x)
        best = inner.add("Sub", best, inner.add("ReduceMax", best, graph.weight([1]), keepdims=1))
        off = inner.add("Sub", mark, mark)  # (B, 1) of 0
        return [inner.add("Concat", best, off, axis=1)], best

    return scan(graph, steps, [initial], step)


def _backtrack(
    graph: Graph, best: str, ends: str, moves: NDArray[np.float32], end: NDArray[np.float32]
) -> str:
    """Return the tags of the best sequences from the last token to the first: (T, B), as floats."""
    last = graph.add("ArgMax", graph.add("Add", best, graph.weight(end)), axis=2, keepdims=1)  # (T, B, 1)
    flags = graph.add("Unsqueeze", ends, graph.weight([2]))  # (T, B, 1)
    parts = [graph.add("Cast", part, to=TensorProto.FLOAT) for part in (last, flags)]
    given = graph.add("Concat", best, *parts, axis=2)  # (T, B, K + 2)
    steps = graph.add("Shape", given, end=1)  # [T]
    order = graph.add("Sub", steps, graph.add("Add", graph.positions(given, axis=0), graph.weight([1])))
    backward = graph.add("Gather", given, order, axis=0)
    rows = graph.add("Shape", given, start=1, end=2)  # [B]
    initial = graph.add("ConstantOfShape", graph.add("Concat", rows, graph.weight([1]), axis=0))  # (B, 1)
    arriving, size = graph.weight(moves.T.copy()), len(end)

    def step(inner: Graph, x: str, before: Sequence[str]) -> tuple[Sequence[str], str]:
        kept, own, flag = inner.several("Split", x, graph.weight([size, 1, 1]), results=3, axis=1)
        after = inner.add("Cast", inner.add("Squeeze", before[0], graph.weight([1])), to=TensorProto.INT64)
        reached = inner.add("Add", kept, inner.add("Gather", arriving, after, axis=0))  # (B, from)
        found = inner.add("Cast", inner.add("ArgMax", reached, axis=1, keepdims=1), to=TensorProto.FLOAT)
        is_last = inner.add("Greater", flag, graph.weight(np.array(0.5, dtype=np.float32)))
        tag = inner.add("Where", is_last, own, found)  # (B, 1)
        return [tag], inner.add("Squeeze", tag, graph.weight([1]))

    return scan(graph, backward, [initial], step)
