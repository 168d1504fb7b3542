"""Each encoder as a piece of graph, (T, B, D) -> (T, B, H): time first, as ONNX's recurrences have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from gonie.export.cells import CELLS, alike, cell, recur
from gonie.export.graph import Graph
from gonie.export.refusal import unknown
from gonie.nn.encoders import Bidirectional, Deep, NoEncoder

Writer = Callable[[Graph, Any, str, str], str]


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


def nothing(graph: Graph, part: NoEncoder, x: str, lengths: str) -> str:
    """The vectors as they are."""
    return x


ENCODERS: Mapping[type, Writer] = {
    **dict.fromkeys(CELLS, one_way),
    Bidirectional: bidirectional,
    Deep: deep,
    NoEncoder: nothing,
}
