"""A recurrence that ONNX has no operator for: one piece of graph, run at each step of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx import TensorProto

from gonie.export.graph import Graph

Step = Callable[[Graph, str, Sequence[str]], tuple[Sequence[str], str]]
"""Writes a step: from the graph to write it in, x[t] and the states before to those after and the result."""


def scan(graph: Graph, x: str, states: Sequence[str], step: Step, *, kind: int = TensorProto.FLOAT) -> str:
    """What ``step`` gives at each time of ``x`` (T, B, …), the first from ``states``: (T, B, …).

    ``kind`` is the type of ``x``; states and results are float32.
    """
    inner = graph.inner()
    *before, now = (f"{name}_{id}" for id, name in enumerate((*states, x)))
    after, result = step(inner, now, before)
    body = inner.body({**dict.fromkeys(before, TensorProto.FLOAT), now: kind}, [*after, result])
    *_, found = graph.several("Scan", *states, x, results=len(states) + 1, body=body, num_scan_inputs=1)
    return found
