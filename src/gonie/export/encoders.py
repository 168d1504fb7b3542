"""The ONNX graph of each encoder, (T, B, D) -> (T, B, H): time first, as the recurrent operators need it.

States past a row's end are undefined. Their readers use the length or the mask of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from gonie.errors import GonieError
from gonie.export.cells import CELLS, can_share_operator, cell, recur
from gonie.export.graph import Graph
from gonie.export.lookup import look_up
from gonie.export.rows import Rows
from gonie.nn.encoders import Bidirectional, Convolution, Deep, NoEncoder, Window
from gonie.nn.encoders.adapter import Adapted, Adapter
from gonie.nn.encoders.bypass import Bypass
from gonie.nn.low_rank import LowRank

Writer = Callable[[Graph, Any, str, Rows], str]
END = 2**63 - 1  # the end of an axis of any length


def states(graph: Graph, part: object, vectors: str | None, rows: Rows) -> str | None:
    """Return the states (B, T, H) over vectors (B, T, D), or None for a model without either."""
    if isinstance(part, NoEncoder):
        return vectors
    if vectors is None:
        raise GonieError(
            f"{type(part).__name__} has no embedding to read. Add words, chars or features to the model."
        )
    x = graph.add("Transpose", vectors, perm=[1, 0, 2])  # (T, B, D)
    return graph.add("Transpose", encoder(graph, part, x, rows), perm=[1, 0, 2])


def encoder(graph: Graph, part: object, x: str, rows: Rows) -> str:
    """Return the states of ``part`` over the vectors ``x`` (T, B, D) of these rows: (T, B, H)."""
    table: dict[type, Writer] = {**dict.fromkeys(CELLS, recurrent), **ENCODERS}
    return look_up("encoder", part, table)(graph, part, x, rows)


def recurrent(graph: Graph, part: nn.Module, x: str, rows: Rows) -> str:
    """Add a single recurrent layer."""
    return recur(graph, x, rows.lengths, [cell(part)], direction="forward", largest=graph.largest(part))


def bidirectional(graph: Graph, part: Bidirectional, x: str, rows: Rows) -> str:
    """Add both directions as one operator if their layers allow it, otherwise as two."""
    ahead, back = cell(part.ahead), cell(part.back)  # type: ignore[arg-type]
    largest = graph.largest(part)
    if can_share_operator(ahead, back):
        return recur(graph, x, rows.lengths, [ahead, back], direction="bidirectional", largest=largest)
    ways = (
        recur(graph, x, rows.lengths, [ahead], direction="forward", largest=largest),
        recur(graph, x, rows.lengths, [back], direction="reverse", largest=largest),
    )
    return graph.add("Concat", *ways, axis=2)


def deep(graph: Graph, part: Deep, x: str, rows: Rows) -> str:
    """Add one layer after the other, without the dropout between them."""
    for layer in part.layers:
        x = encoder(graph, layer, x, rows)
    return x


def window(graph: Graph, part: Window, x: str, rows: Rows) -> str:
    """Concatenate the shifted copies of the padded sentence, one per position of the window."""
    before, after = (graph.weight(edge) for edge in part.edges)  # (D,)
    x = graph.add("Where", _time_first(graph, rows), x, after)
    sizes = graph.add("Gather", graph.add("Shape", x), graph.weight([1, 2]))  # [B, D]
    shape = graph.add("Concat", graph.weight([part.size // 2]), sizes, axis=0)
    edges = [graph.add("Expand", edge, shape) for edge in (before, after)]
    x = graph.add("Concat", edges[0], x, edges[1], axis=0)  # (T + C - 1, B, D)
    steps = [_shifted(graph, x, first, part.size - 1 - first) for first in range(part.size)]
    found = graph.add("Concat", *steps, axis=2)  # (T, B, C * D)
    for layer in part.linear():
        found = graph.add("Tanh", graph.linear(found, layer.weight, layer.bias))
    return found


def _shifted(graph: Graph, x: str, first: int, last: int) -> str:
    """Remove the first ``first`` and the last ``last`` steps of ``x``."""
    end = -last or END
    return graph.add("Slice", x, graph.weight([first]), graph.weight([end]), graph.weight([0]))


def convolution(graph: Graph, part: Convolution, x: str, rows: Rows) -> str:
    """Add the filters of each width over the sentence, which is 0 outside."""
    zero = graph.weight(np.array(0, dtype=np.float32))
    x = graph.add("Where", _time_first(graph, rows), x, zero)
    columns = graph.add("Transpose", x, perm=[1, 2, 0])  # (B, D, T)
    found = [
        graph.add(
            "Conv",
            columns,
            graph.weight(filters.weight),  # type: ignore[arg-type]
            graph.weight(filters.bias),  # type: ignore[arg-type]
            pads=[(kernel - 1) // 2, kernel // 2],
        )  # (B, hidden, T)
        for kernel, filters in zip(part.kernels, part.filters, strict=True)
    ]
    active = graph.add("Relu", graph.add("Concat", *found, axis=1))  # (B, H, T)
    return graph.add("Transpose", active, perm=[2, 0, 1])


def _time_first(graph: Graph, rows: Rows) -> str:
    """Return the mask with time first: (T, B, 1)."""
    mask = graph.add("Transpose", rows.mask, perm=[1, 0])
    return graph.add("Unsqueeze", mask, graph.weight([2]))


def bypass(graph: Graph, part: Bypass, x: str, rows: Rows) -> str:
    """Concatenate the encoder's states and the part of each vector that bypasses it."""
    sizes = graph.weight([part.encoder.input_width, part.passed])
    read, past = graph.several("Split", x, sizes, results=2, axis=2)
    return graph.add("Concat", encoder(graph, part.encoder, read, rows), past, axis=2)


def adapted(graph: Graph, part: Adapted, x: str, rows: Rows) -> str:
    """Add the adapter at the encoder's input, the encoder, and the adapter at its output."""
    x = _adapter(graph, part.before, x)
    return _adapter(graph, part.after, encoder(graph, part.encoder, x, rows))


def _adapter(graph: Graph, part: Adapter, x: str) -> str:
    narrow = graph.add("Relu", graph.linear(x, part.down, part.down_bias))
    return graph.add("Add", x, graph.linear(narrow, part.up, part.up_bias))


def low_rank(graph: Graph, part: LowRank, x: str, rows: Rows) -> str:
    """Add the encoder with its merged weights."""
    with part.merged() as plain:
        return encoder(graph, plain, x, rows)


def no_encoder(graph: Graph, part: NoEncoder, x: str, rows: Rows) -> str:
    """Return the vectors unchanged."""
    return x


ENCODERS: dict[type, Writer] = {
    Bidirectional: bidirectional,
    Deep: deep,
    Window: window,
    Convolution: convolution,
    Bypass: bypass,
    Adapted: adapted,
    LowRank: low_rank,
    NoEncoder: no_encoder,
}
"""The graph function of each encoder that is not in ``CELLS``."""
