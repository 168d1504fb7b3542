"""The ONNX graph of a tagger, written part by part rather than traced.

Every part is one or a few operators, with a small function in the table of its role (``embeddings``,
``encoders``, ``cells``). Lengths are inputs, so one graph works for any batch. Dropout is not in the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from gonie.export.embeddings import embedding
from gonie.export.encoders import states
from gonie.export.graph import Graph, GraphOutput
from gonie.export.rows import Sentences
from gonie.export.scores import head_scores
from gonie.export.standalone_onnx import StandaloneGraph
from gonie.export.viterbi import viterbi
from gonie.runtime.bundle import Graphs
from gonie.tasks.tagging.torch.network import TAGS, TaggingNetwork


def onnx_graph(model: TaggingNetwork, head: str = TAGS, *, graph: Graph | None = None) -> Graphs:
    """Return the serialised graph from a batch to ``scores`` (B, T, K) of one head.

    Its inputs are the arrays of a batch that the model reads and, for each feature group G, ``G.ids`` and
    ``G.rows``, the flat position b * T + t of each feature. ``graph`` is an empty graph to write into. For a
    model with a language model, it must have ``longest`` set.
    """
    graph = graph or Graph()
    scores, size = _scores(graph, model, head)
    found = graph.serialize("tagger", {"scores": GraphOutput(scores, ("B", "T", size))})
    return Graphs(found, graph.serialize_forms())


def standalone_tagger(
    model: TaggingNetwork, chain: Sequence[NDArray[np.floating]], *, longest: int, facts: Mapping[str, str]
) -> bytes:
    """Return one graph from ids to ``tags`` (B, T) by Viterbi decoding, and ``scores`` (B, T, K).

    ``chain`` is as for ``viterbi``. ``facts`` are stored as metadata.
    """
    graph = StandaloneGraph(longest=longest)
    scores, size = _scores(graph, model, TAGS)
    tags = viterbi(graph, scores, chain)
    results = {
        "tags": GraphOutput(tags, ("B", "T"), TensorProto.INT64),
        "scores": GraphOutput(scores, ("B", "T", size)),
    }
    return graph.serialize("tagger", results, facts)


def _scores(graph: Graph, model: TaggingNetwork, head: str) -> tuple[str, int]:
    """Return the scores (B, T, K), and K."""
    vectors = embedding(graph, model.embedding)
    encoded = states(graph, model.encoder, vectors, Sentences(graph))  # (B, T, H)
    return head_scores(graph, model.head(head), encoded)
