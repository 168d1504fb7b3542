"""Each embedding as a piece of graph, from arrays of the batch to (B, T, D); dropout leaves no trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gonie.export.cells import Y_H, cell, recur
from gonie.export.elmo import elmo
from gonie.export.filters import largest
from gonie.export.graph import Graph
from gonie.export.refusal import unknown
from gonie.export.sums import feature_sums
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.embeddings.elmo import ElmoEmbedding


def embedding(graph: Graph, part: object) -> str | None:
    """Vectors (B, T, D) of the tokens; None where the width is 0, for which a graph needs no value."""
    write = EMBEDDINGS.get(type(part))
    if write is None:
        raise unknown("embedding", part, EMBEDDINGS)
    return write(graph, part)


def words(graph: Graph, part: WordEmbedding) -> str:
    """Rows of one table, learned and fixed ones alike."""
    return graph.rows(part.table(), graph.input("words"))


def char_cnn(graph: Graph, part: CharCNN) -> str:
    """Convolution over each distinct form's characters, then the maximum over those that are its own."""
    forms = graph.forms
    weight, bias = part.convolution.parameters()  # (filters, D, kernel), (filters,)
    vectors = forms.weight(part.characters.weight)
    windows = _windows(forms, part.margins)
    spelled = largest(forms, windows, vectors, weight, bias, constant=Graph.weight)  # (U, filters)
    return graph.add("Gather", graph.per_form(spelled, len(weight)), graph.input("forms"), axis=0)


def _windows(graph: Graph, margins: tuple[int, int]) -> str:
    """The characters around each place of a form, 0 outside it: (U, C, kernel).

    After its last place a form has that one again, which no maximum minds.
    """
    before, after = margins
    chars = graph.input("chars")  # (U, C)
    padded = graph.add("Pad", chars, graph.weight([0, before, 0, after]))  # (U, C + kernel - 1)
    last = graph.add("Sub", graph.input("char_lengths"), graph.weight([1]))  # (U,)
    column = graph.add("Unsqueeze", last, graph.weight([1]))
    places = graph.add("Min", graph.positions(chars, axis=1), column)  # (U, C)
    around = graph.weight(np.arange(before + 1 + after))
    seen = graph.add("Add", graph.add("Unsqueeze", places, graph.weight([2])), around)  # (U, C, kernel)
    flat = graph.add(
        "Reshape", seen, graph.add("Concat", graph.add("Shape", chars, end=1), graph.weight([-1]), axis=0)
    )
    found = graph.add("GatherElements", padded, flat, axis=1)
    return graph.add("Reshape", found, graph.add("Shape", seen))


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


EMBEDDINGS: Mapping[type, Callable[[Graph, Any], str | None]] = {
    WordEmbedding: words,
    CharCNN: char_cnn,
    CharLSTM: char_lstm,
    FeatureEmbedding: features,
    ElmoEmbedding: elmo,
    Stack: stack,
    NoEmbedding: nothing,
}
