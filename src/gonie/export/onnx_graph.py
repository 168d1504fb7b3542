"""A tagger as an ONNX graph, written part by part rather than traced.

Every part is one operator or a few, so each has a small function in the table of its role (``embeddings``,
``encoders``, ``cells``) and the graph says what the model is. Lengths go in as data, so one graph serves any
batch; dropout is for training and leaves no trace.
"""

from __future__ import annotations

from gonie.export.embeddings import embedding
from gonie.export.encoders import states
from gonie.export.graph import Graph, Result
from gonie.export.rows import Sentences
from gonie.export.scores import head_scores
from gonie.models.tagger import TAGS, Tagger
from gonie.runtime.graphs import Graphs


def onnx_graph(model: Tagger, head: str = TAGS, *, graph: Graph | None = None) -> Graphs:
    """The graph from a batch's arrays to ``scores`` (B, T, K) of one head, serialised.

    Its inputs are those names of a batch that the model reads, and for each feature group G ``G.ids`` and
    ``G.rows``, the flat position b * T + t of each feature. ``graph``, empty,
    is what it is written into: where the model has a language model, one that knows how many bytes it reads.
    """
    graph = graph or Graph()
    vectors = embedding(graph, model.embedding)
    encoded = states(graph, model.encoder, vectors, Sentences(graph))  # (B, T, H)
    scores, size = head_scores(graph, model.head(head), encoded)
    found = graph.serialize("tagger", {"scores": Result(scores, ("B", "T", size))})
    return Graphs(found, graph.serialize_forms(), graph.alone)
