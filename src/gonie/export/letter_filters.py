"""Filters over the characters of words as a piece of graph, without a product: all of it is looked up.

What a filter finds in a window is a sum of what it finds in each of its characters, and there are few
characters: so that is a row of a table for each place of the window, computed once and for all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.export.graph import Graph

END = 2**63 - 1  # of an axis, however long it is
NEVER = -1e30  # what is found in a window that is not around a character of the form
SMALL = 1 << 17  # numbers of a table: a larger one is kept as the graph keeps tables


def letter_filters(
    graph: Graph, letters: Tensor, weight: Tensor, bias: Tensor, margins: tuple[int, int]
) -> str:
    """What each filter finds at the character of a form where it finds most: (U, filters).

    ``letters`` (V, D) has zeros for 0, which stands past a form's end in ``chars`` (U, C); ``weight`` is
    (filters, D, kernel), and ``margins`` are how far a window goes before and after its character.
    """
    before, after = margins
    padded = graph.add("Pad", graph.input("chars"), graph.weight([0, before, 0, after]))
    found = ""
    for place, own in enumerate(weight.detach().unbind(2)):  # (filters, D)
        table = letters.detach() @ own.T  # (V, filters)
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
    """Without the first and the last so many columns."""
    return graph.add("Slice", chars, graph.weight([first]), graph.weight([-last or END]), graph.weight([1]))
