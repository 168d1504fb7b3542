"""The ONNX graph of each embedding, from the arrays of a batch to (B, T, D), without dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gonie.export.cells import Y_H, cell, recur
from gonie.export.char_cnn import char_cnn
from gonie.export.elmo import elmo
from gonie.export.external import external
from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.export.sums import feature_sums
from gonie.export.transformer import transformer
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.embeddings.elmo import ElmoEmbedding
from gonie.nn.embeddings.external import ExternalEmbedding
from gonie.nn.embeddings.transformer import TransformerEmbedding
from gonie.nn.low_rank import LowRank


def embedding(graph: Graph, part: object) -> str | None:
    """Return the vectors (B, T, D) of the tokens, or None if their width is 0."""
    return look_up("embedding", part, EMBEDDINGS)(graph, part)


def words(graph: Graph, part: WordEmbedding) -> str:
    """Look up rows of one table, which holds the learned and the fixed vectors."""
    return graph.rows(part.table(), graph.input("words"))


def char_lstm(graph: Graph, part: CharLSTM) -> str:
    """Return the last state of each direction over the characters of each distinct form."""
    forms = graph.forms
    table = forms.weight(part.characters.weight)
    vectors = forms.add("Gather", table, forms.input("chars"), axis=0)  # (U, C, D)
    x = forms.add("Transpose", vectors, perm=[1, 0, 2])  # (C, U, D)
    lengths = forms.lengths("char_lengths")  # (U,)
    cells = [cell(part.encoder.ahead), cell(part.encoder.back)]  # type: ignore[arg-type]
    spelled = recur(forms, x, lengths, cells, direction="bidirectional", output=Y_H)  # (U, 2H)
    return graph.add("Gather", graph.per_form(spelled, part.width), graph.input("forms"), axis=0)


def features(graph: Graph, part: FeatureEmbedding) -> str:
    """Sum the vectors of the features at each position."""
    return feature_sums(graph, part.group, part.weight)


def stack(graph: Graph, part: Stack) -> str | None:
    """Concatenate the parts."""
    values = [value for value in (embedding(graph, inner) for inner in part.parts) if value is not None]
    return graph.add("Concat", *values, axis=2) if values else None


def low_rank(graph: Graph, part: LowRank) -> str | None:
    """Add the embedding with its merged weights."""
    with part.merged() as plain:
        return embedding(graph, plain)


def no_embedding(graph: Graph, part: NoEmbedding) -> None:
    """Return None, because the vectors are empty."""


EMBEDDINGS: dict[type, Callable[[Graph, Any], str | None]] = {
    WordEmbedding: words,
    CharCNN: char_cnn,
    CharLSTM: char_lstm,
    FeatureEmbedding: features,
    ElmoEmbedding: elmo,
    TransformerEmbedding: transformer,
    ExternalEmbedding: external,
    Stack: stack,
    LowRank: low_rank,
    NoEmbedding: no_embedding,
}
"""The graph function of each embedding."""
