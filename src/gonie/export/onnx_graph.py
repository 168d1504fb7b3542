"""A tagger as an ONNX graph, written part by part rather than traced.

Every part is one operator or a few, so each has a small function in the table of its role (``embeddings``,
``encoders``, ``cells``) and the graph says what the model is. Lengths go in as data, so one graph serves any
batch; dropout is for training and leaves no trace.
"""

from __future__ import annotations

from torch import nn

from gonie.errors import GonieError
from gonie.export.embeddings import embedding
from gonie.export.encoders import encoder
from gonie.export.graph import Graph
from gonie.export.scores import head_scores
from gonie.models.tagger import TAGS, Tagger
from gonie.nn.encoders import NoEncoder


def onnx_graph(model: Tagger, head: str = TAGS) -> bytes:
    """The graph from a batch's arrays to ``scores`` (B, T, K) of one head, serialised.

    Its inputs are those names of a batch that the model reads, and for each feature group G ``G.ids`` and
    ``G.rows``, the flat position b * T + t of each feature.
    """
    graph = Graph()
    states = _states(graph, model)
    return graph.serialize(*head_scores(graph, _module(model.head(head)), states))


def _states(graph: Graph, model: Tagger) -> str | None:
    """States (B, T, H) of the encoder; None for a model that lives on direct features alone."""
    vectors = embedding(graph, _module(model.embedding))
    part = _module(model.encoder)
    if isinstance(part, NoEncoder):
        return vectors
    if vectors is None:
        raise GonieError(
            f"expected an embedding for {type(part).__name__} to read, got none. Give the model one."
        )
    x = graph.add("Transpose", vectors, perm=[1, 0, 2])  # (T, B, D)
    states = encoder(graph, part, x, graph.lengths("lengths"))  # (T, B, H)
    return graph.add("Transpose", states, perm=[1, 0, 2])


def _module(part: object) -> nn.Module:
    assert isinstance(part, nn.Module)
    return part
