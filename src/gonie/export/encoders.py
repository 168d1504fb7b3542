"""Each encoder as a piece of graph, (T, B, D) -> (T, B, H): time first, as ONNX's recurrences have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from gonie.export.cells import CELLS, alike, cell, recur
from gonie.export.graph import Graph
from gonie.export.refusal import unknown
from gonie.nn.encoders import Bidirectional, Deep, NoEncoder, Window

Writer = Callable[[Graph, Any, str, str], str]
END = 2**63 - 1  # of an axis, however long it is


def encoder(graph: Graph, part: nn.Module, x: str, lengths: str) -> str:
    """States of ``part`` over vectors ``x`` (T, B, D) and ``lengths`` (B,) int32: (T, B, H)."""
    write = ENCODERS.get(type(part))
    if write is None:
        raise unknown("encoder", part, ENCODERS)
    return write(graph, part, x, lengths)


def one_way(graph: Graph, part: nn.Module, x: str, lengths: str) -> str:
    """A single recurrent layer."""
    return recur(graph, x, lengths, [cell(part)], direction="forward")


def bidirectional(graph: Graph, part: Bidirectional, x: str, lengths: str) -> str:
    """Both ways in one operator where the two layers allow it, else in two."""
    ahead, back = cell(part.ahead), cell(part.back)  # type: ignore[arg-type]
    if alike(ahead, back):
        return recur(graph, x, lengths, [ahead, back], direction="bidirectional")
    ways = (
        recur(graph, x, lengths, [ahead], direction="forward"),
        recur(graph, x, lengths, [back], direction="reverse"),
    )
    return graph.add("Concat", *ways, axis=2)


def deep(graph: Graph, part: Deep, x: str, lengths: str) -> str:
    """One layer after the other; the dropout between them is for training alone."""
    for layer in part.layers:
        x = encoder(graph, layer, x, lengths)
    return x


def window(graph: Graph, part: Window, x: str, lengths: str) -> str:
    """The sentence between its edges, as often as the window is wide, each time one token further."""
    mask = graph.add("Transpose", graph.input("mask"), perm=[1, 0])  # (T, B)
    before, after = (graph.weight(edge) for edge in part.edges)  # (D,)
    x = graph.add("Where", graph.add("Unsqueeze", mask, graph.weight([2])), x, after)
    sizes = graph.add("Gather", graph.add("Shape", x), graph.weight([1, 2]))  # [B, D]
    shape = graph.add("Concat", graph.weight([part.size // 2]), sizes, axis=0)
    edges = [graph.add("Expand", edge, shape) for edge in (before, after)]
    x = graph.add("Concat", edges[0], x, edges[1], axis=0)  # (T + C - 1, B, D)
    steps = [_shifted(graph, x, first, part.size - 1 - first) for first in range(part.size)]
    states = graph.add("Concat", *steps, axis=2)  # (T, B, C * D)
    for layer in part.linear():
        product = graph.add("MatMul", states, graph.weight(layer.weight.T))
        states = graph.add("Tanh", graph.add("Add", product, graph.weight(layer.bias)))
    return states


def _shifted(graph: Graph, x: str, first: int, last: int) -> str:
    """``x`` without its first and last so many steps."""
    end = -last or END
    return graph.add("Slice", x, graph.weight([first]), graph.weight([end]), graph.weight([0]))


def nothing(graph: Graph, part: NoEncoder, x: str, lengths: str) -> str:
    """The vectors as they are."""
    return x


ENCODERS: Mapping[type, Writer] = {
    **dict.fromkeys(CELLS, one_way),
    Bidirectional: bidirectional,
    Deep: deep,
    Window: window,
    NoEncoder: nothing,
}
