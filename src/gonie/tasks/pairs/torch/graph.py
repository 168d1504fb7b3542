"""A network for pairs of texts as an ONNX graph, written part by part as a tagger's is."""

from __future__ import annotations

from gonie.errors import GonieError
from gonie.export.embeddings import embedding
from gonie.export.encoders import states
from gonie.export.graph import Graph, GraphOutput
from gonie.export.matching import Sides, matching, projection
from gonie.export.rows import Sentences
from gonie.export.text_scores import text_head_scores
from gonie.runtime.bundle import Graphs
from gonie.tasks.pairs.torch.network import LABEL, PairNetwork


def pair_graph(model: PairNetwork, head: str = LABEL, *, graph: Graph | None = None) -> Graphs:
    """The graph from a batch's arrays to ``scores`` (N, K) and the shares of tokens, ``word_shares`` (B, T).

    ``graph`` is as ``onnx_graph`` takes it.
    """
    graph = graph or Graph()
    encoded = states(graph, model.encoder, embedding(graph, model.embedding), Sentences(graph))
    if encoded is None:
        raise GonieError("expected an embedding for the matching to read, got none. Give the model one.")
    sides = Sides(graph)
    found = matching(graph, model.matching, sides.of(encoded), sides)
    vectors = found.vectors if model.hidden is None else projection(graph, model.hidden, found.vectors)
    scores, size = text_head_scores(graph, model.head(head), vectors)
    results = {
        "scores": GraphOutput(scores, ("N", size)),
        "word_shares": GraphOutput(sides.back(found.shares), ("B", "T")),
    }
    return Graphs(graph.serialize("pairs", results), graph.serialize_forms())
