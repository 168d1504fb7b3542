"""The ONNX graph of external vectors, which are an input of the graph."""

from __future__ import annotations

import numpy as np

from gonie.export.graph import Graph
from gonie.nn.embeddings.external import GIVEN, SHORTEST, ExternalEmbedding


def external(graph: Graph, part: ExternalEmbedding) -> str:
    """Return the vectors of the tokens at each place: (B, T, D · places)."""
    vectors = graph.input(GIVEN)  # (B, T, G)
    if part.normalize:
        squares = graph.add("ReduceSum", graph.add("Mul", vectors, vectors), graph.weight([2]), keepdims=1)
        least = graph.weight(np.array(SHORTEST, dtype=np.float32))
        vectors = graph.add("Div", vectors, graph.add("Max", graph.add("Sqrt", squares), least))
    if part.projection is not None:
        vectors = graph.linear(vectors, part.projection.weight, part.projection.bias)
    return graph.add("Concat", *[vectors] * len(part.places), axis=2) if len(part.places) > 1 else vectors
