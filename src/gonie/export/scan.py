"""Recurrences without an ONNX operator, as a loop over time (Scan)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx import TensorProto

from gonie.export.graph import Graph

Step = Callable[[Graph, str, Sequence[str]], tuple[Sequence[str], str]]
"""Adds a step to a graph, from x[t] and the previous states to the next states and the output."""


def scan(graph: Graph, x: str, states: Sequence[str], step: Step, *, kind: int = TensorProto.FLOAT) -> str:
    """Return the output of ``step`` at each time of ``x`` (T, B, …), starting from ``states``: (T, B, …).

    ``kind`` is the data type of ``x``. States and outputs are float32.
    """
    inner = graph.inner()
    *before, now = (f"{name}_{id}" for id, name in enumerate((*states, x)))
    after, result = step(inner, now, before)
    body = inner.body({**dict.fromkeys(before, TensorProto.FLOAT), now: kind}, [*after, result])
    *_, found = graph.several("Scan", *states, x, results=len(states) + 1, body=body, num_scan_inputs=1)
    return found
