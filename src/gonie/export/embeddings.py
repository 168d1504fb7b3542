"""Each embedding as a piece of graph, from arrays of the batch to (B, T, D); dropout leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gonie.export.cells import Y_H, cell, recur
from gonie.export.elmo import elmo
from gonie.export.graph import Graph
from gonie.export.letter_filters import letter_filters
from gonie.export.lookup import look_up
from gonie.export.sums import feature_sums
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.embeddings.elmo import ElmoEmbedding


def embedding(graph: Graph, part: object) -> str | None:
    """Vectors (B, T, D) of the tokens; None where the width is 0, for which a graph needs no value."""
    return look_up("embedding", part, EMBEDDINGS)(graph, part)


def words(graph: Graph, part: WordEmbedding) -> str:
    """Rows of one table, learned and fixed ones alike."""
    return graph.rows(part.table(), graph.input("words"))


def char_cnn(graph: Graph, part: CharCNN) -> str:
    """Convolution over each distinct form's characters, then the maximum over those that are its own."""
    weight, bias = part.convolution.parameters()  # (filters, D, kernel), (filters,)
    spelled = letter_filters(graph.forms, part.characters.weight, weight, bias, part.margins)
    return graph.add("Gather", graph.per_form(spelled, len(weight)), graph.input("forms"), axis=0)


def char_lstm(graph: Graph, part: CharLSTM) -> str:
    """The last state of each direction over each distinct form's characters."""
    forms = graph.forms
    table = forms.weight(part.characters.weight)
    vectors = forms.add("Gather", table, forms.input("chars"), axis=0)  # (U, C, D)
    x = forms.add("Transpose", vectors, perm=[1, 0, 2])  # (C, U, D)
    lengths = forms.lengths("char_lengths")  # (U,)
    cells = [cell(part.encoder.ahead), cell(part.encoder.back)]  # type: ignore[arg-type]
    spelled = recur(forms, x, lengths, cells, direction="bidirectional", output=Y_H)  # (U, 2H)
    return graph.add("Gather", graph.per_form(spelled, part.width), graph.input("forms"), axis=0)


def features(graph: Graph, part: FeatureEmbedding) -> str:
    """The sum of the vectors of a position's features."""
    return feature_sums(graph, part.group, part.weight)


def stack(graph: Graph, part: Stack) -> str | None:
    """The parts side by side."""
    values = [value for value in (embedding(graph, inner) for inner in part.parts) if value is not None]
    return graph.add("Concat", *values, axis=2) if values else None


def nothing(graph: Graph, part: NoEmbedding) -> None:
    """No value at all."""


EMBEDDINGS: dict[type, Callable[[Graph, Any], str | None]] = {
    WordEmbedding: words,
    CharCNN: char_cnn,
    CharLSTM: char_lstm,
    FeatureEmbedding: features,
    ElmoEmbedding: elmo,
    Stack: stack,
    NoEmbedding: nothing,
}
"""The graph function of each embedding."""
