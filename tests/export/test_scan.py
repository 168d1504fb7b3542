"""Compares a loop over time in the graph with the same loop in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnxruntime
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from gonie.export.graph import Graph, GraphOutput
from gonie.export.scan import scan


def summed(words: np.ndarray) -> np.ndarray:
    """Return the running sum, from 1, of twice the numbers (T, B), computed by a graph."""
    graph = Graph()
    twice = graph.weight(np.array(2.0, dtype=np.float32))

    def step(inner: Graph, x: str, before: Sequence[str]) -> tuple[Sequence[str], str]:
        number = inner.add("Cast", x, to=TensorProto.FLOAT)
        total = inner.add("Add", before[0], inner.add("Mul", number, twice))  # a constant from outside
        return [total], total

    x = graph.input("words")
    rows = graph.add("Shape", x, start=1, end=2)
    one = graph.add("Expand", graph.weight(np.ones(1, dtype=np.float32)), rows)
    found = scan(graph, x, [one], step, kind=TensorProto.INT64)
    model = graph.serialize("sums", {"sums": GraphOutput(found, ("B", "T"))})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (sums,) = session.run(["sums"], {"words": words})
    return np.asarray(sums)


@settings(deadline=None, max_examples=20)
@given(steps=st.integers(1, 6), rows=st.integers(1, 4), seed=st.integers(0, 1000))
def test_each_step_continues_from_the_previous_one(steps: int, rows: int, seed: int) -> None:
    words = np.random.default_rng(seed).integers(0, 9, (steps, rows))
    np.testing.assert_array_equal(summed(words), 1 + 2 * np.cumsum(words, axis=0))
