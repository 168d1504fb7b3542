"""The ONNX graph of a classifier, written part by part as that of a tagger (``onnx_graph``).

Besides the scores, the graph returns the weights for explanations: of each token in its sentence's vector,
and of each sentence in its text's vector.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from gonie.export.embeddings import embedding
from gonie.export.encoders import states
from gonie.export.graph import Graph, GraphOutput
from gonie.export.poolings import PooledValues, pooling
from gonie.export.rows import Rows, Sentences, Texts
from gonie.export.standalone_onnx import StandaloneGraph
from gonie.export.text_scores import text_head_scores
from gonie.runtime.bundle import Graphs
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level


def text_graph(model: ClassifyingNetwork, head: str = LABEL, *, graph: Graph | None = None) -> Graphs:
    """Return the graph from a batch to ``scores`` (N, K) and the weights of tokens and sentences.

    The weights are ``word_shares`` (B, T) and ``sentence_shares`` (N, S). The inputs are the arrays of a
    batch of texts that the model reads and, for the bag of n-grams, ``bag.rows``, the text of each n-gram.
    ``graph`` is an empty graph, as for ``onnx_graph``.
    """
    graph = graph or Graph()
    results = _results(graph, model, head)
    return Graphs(graph.serialize("classifier", results), graph.serialize_forms())


def standalone_classifier(
    model: ClassifyingNetwork,
    *,
    temperature: float,
    multi_label: bool,
    longest: int,
    facts: Mapping[str, str],
) -> bytes:
    """Return one graph from ids to calibrated ``probabilities`` (N, K) and the outputs of ``text_graph``."""
    graph = StandaloneGraph(longest=longest)
    results = _results(graph, model, LABEL)
    scores = results["scores"]
    by = graph.weight(np.array(temperature, dtype=np.float32))
    scaled = graph.add("Div", scores.value, by)
    chances = graph.add("Sigmoid", scaled) if multi_label else graph.add("Softmax", scaled, axis=1)
    return graph.serialize(
        "classifier", {"probabilities": GraphOutput(chances, scores.shape), **results}, facts
    )


def _results(graph: Graph, model: ClassifyingNetwork, head: str) -> dict[str, GraphOutput]:
    words = _level(graph, model.words, embedding(graph, model.embedding), Sentences(graph))
    texts = _texts(graph, model.sentences, words.vectors)
    scores, size = text_head_scores(graph, model.head(head), texts.vectors)
    return {
        "scores": GraphOutput(scores, ("N", size)),
        "word_shares": GraphOutput(words.weights, ("B", "T")),
        "sentence_shares": GraphOutput(texts.weights, ("N", "S")),
    }


def _texts(graph: Graph, level: Level | None, rows: str) -> PooledValues:
    """Return the vectors of the texts and the weights of their sentences, from sentence vectors (B, P)."""
    places = graph.input("places")  # (N, S)
    if level is not None:
        return _level(graph, level, graph.add("Gather", rows, places, axis=0), Texts(graph))
    first = graph.add("Gather", places, graph.weight(np.array(0)), axis=1)  # (N,)
    shares = graph.add("Cast", graph.input("places_mask"), to=TensorProto.FLOAT)
    return PooledValues(graph.add("Gather", rows, first, axis=0), shares)


def _level(graph: Graph, level: Level, vectors: str | None, rows: Rows) -> PooledValues:
    """Pool a sequence of vectors (B, T, D) into one. Also return the weight of each."""
    encoded = states(graph, level.encoder, vectors, rows)
    return pooling(graph, level.pooling, _empty(graph, rows) if encoded is None else encoded, rows)


def _empty(graph: Graph, rows: Rows) -> str:
    """Return vectors of width 0, for a model of n-grams alone."""
    shape = graph.add("Concat", graph.add("Shape", rows.mask), graph.weight([0]), axis=0)  # [B, T, 0]
    return graph.add("ConstantOfShape", shape)
