"""The ONNX graph of a pair network."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gonie.errors import GonieError
from gonie.export.embeddings import embedding
from gonie.export.encoders import states
from gonie.export.graph import Graph, GraphOutput
from gonie.export.matching import Sides, matching, projection
from gonie.export.rows import Sentences
from gonie.export.standalone_onnx import StandaloneGraph
from gonie.export.text_scores import text_head_scores
from gonie.runtime.bundle import Graphs
from gonie.tasks.classification.torch.network import LABEL
from gonie.tasks.pairs.torch.network import PairNetwork


def pair_graph(model: PairNetwork, head: str = LABEL, *, graph: Graph | None = None) -> Graphs:
    """Return the graph from a batch's arrays to ``scores`` (N, K) and the shares of tokens and of texts.

    These are ``word_shares`` (B, T) and ``sentence_shares`` (N, 2). ``graph`` is as ``onnx_graph`` takes it.
    """
    graph = graph or Graph()
    results = _results(graph, model, head)
    return Graphs(graph.serialize("pairs", results), graph.serialize_forms())


def standalone_pairs(
    model: PairNetwork, *, temperature: float | None, longest: int, facts: Mapping[str, str]
) -> bytes:
    """Return one graph from ids to calibrated ``probabilities``, or without a temperature to ``scores``."""
    graph = StandaloneGraph(longest=longest)
    results = _results(graph, model, LABEL)
    if temperature is not None:
        scores = results["scores"]
        scaled = graph.add("Div", scores.value, graph.weight(np.array(temperature, dtype=np.float32)))
        chances = GraphOutput(graph.add("Softmax", scaled, axis=1), scores.shape)
        results = {"probabilities": chances, **results}
    return graph.serialize("pairs", results, facts)


def _results(graph: Graph, model: PairNetwork, head: str) -> dict[str, GraphOutput]:
    encoded = states(graph, model.encoder, embedding(graph, model.embedding), Sentences(graph))
    if encoded is None:
        raise GonieError("a pair model without word vectors cannot be exported. Give it an embedding.")
    sides = Sides(graph)
    found = matching(graph, model.matching, sides.of(encoded), sides)
    vectors = found.vectors if model.hidden is None else projection(graph, model.hidden, found.vectors)
    scores, size = text_head_scores(graph, model.head(head), vectors)
    half = graph.weight(np.array([0.5], dtype=np.float32))
    texts = graph.add("Expand", half, graph.add("Shape", graph.input("places")))  # (N, 2)
    return {
        "scores": GraphOutput(scores, ("N", size)),
        "word_shares": GraphOutput(sides.back(found.shares), ("B", "T")),
        "sentence_shares": GraphOutput(texts, ("N", "S")),
    }
