"""The ONNX graph of the character CNN, with table lookups instead of products.

The output of a filter on a window is a sum over the characters of the window, and there are few distinct
characters. So each position of the window has a precomputed table with one row per character.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.export.graph import Graph
from gonie.nn.embeddings import CharCNN

END = 2**63 - 1  # the end of an axis of any length
NEVER = -1e30  # the score of a window whose centre is not a character of the form
SMALL = 1 << 17  # larger tables are stored as the graph stores tables


def char_cnn(graph: Graph, part: CharCNN) -> str:
    """Return the vectors of the tokens' forms, each distinct form computed once: (B, T, filters)."""
    weight, bias = part.convolution.parameters()  # (filters, D, kernel), (filters,)
    spelled = char_filters(graph.forms, part.characters.weight, weight, bias, part.margins)
    return graph.add("Gather", graph.per_form(spelled, len(weight)), graph.input("forms"), axis=0)


def char_filters(
    graph: Graph, characters: Tensor, weight: Tensor, bias: Tensor, margins: tuple[int, int]
) -> str:
    """Return the maximum of each filter over the characters of a form: (U, filters).

    ``characters`` (V, D) has zeros for id 0, the padding of ``chars`` (U, C). ``weight`` is (filters, D,
    kernel), and ``margins`` are the extents of a window before and after its character.
    """
    before, after = margins
    padded = graph.add("Pad", graph.input("chars"), graph.weight([0, before, 0, after]))
    found = ""
    for place, own in enumerate(weight.detach().unbind(2)):  # (filters, D)
        table = characters.detach() @ own.T  # (V, filters)
        if place == before:
            table = torch.cat([torch.full_like(table[:1], NEVER), table[1:]])
        seen = _look_up(graph, table, _shifted(graph, padded, place, before + after - place))
        found = graph.add("Add", found, seen) if found else seen  # (U, C, filters)
    return graph.add("Add", graph.add("ReduceMax", found, graph.weight([1]), keepdims=0), graph.weight(bias))


def _look_up(graph: Graph, table: Tensor, ids: str) -> str:
    if table.numel() > SMALL:
        return graph.rows(table, ids)
    return graph.add("Gather", graph.weight(table), ids, axis=0)


def _shifted(graph: Graph, chars: str, first: int, last: int) -> str:
    """Remove the first ``first`` and the last ``last`` columns."""
    return graph.add("Slice", chars, graph.weight([first]), graph.weight([-last or END]), graph.weight([1]))
