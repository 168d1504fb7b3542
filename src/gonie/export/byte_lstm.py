"""An LSTM whose products are of bytes, by scales that never change.

onnxruntime's ``DynamicQuantizeLSTM`` multiplies bytes and is one operator, where loops of others take longer
for a single sentence. But it takes the scale of its inputs from all of a batch, and that of its states from
all of them at each step: a sentence's scores would depend on its company. So each sees to it that the scale
is always the same. The inputs are kept within a range that was measured, and have two further numbers that
are the ends of this range, and that no weight looks at. The states are within -1 and 1 anyway, and two units
more are always just that: they start so, forget nothing and take nothing in. Bytes then do not depend on
company, and sums of whole numbers do not depend on their order: a sentence alone and among others has the
same scores to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.export.graph import Graph, Recurrence
from gonie.export.row_bytes import Floats, row_bytes

WITHIN = 63  # of a weight's byte: older processors add two products in sixteen bits, which then fit
ENDS = 2  # numbers more in each input, and units more in each state
SURE = 30.0  # of a gate: quite open; below 0, quite shut
FULL = 20.0  # of a cell: its tanh is 1
INPUT, OUTPUT, FORGET = range(3)  # the order of the gates; the last is what a cell takes in


def byte_lstm(graph: Graph, x: str, lengths: str, part: Recurrence, largest: float) -> str:
    """As ``Graph.recurrence`` of an LSTM, over inputs (T, B, D) that are taken for ``largest`` beyond it."""
    hidden, ways = part.hidden, len(part.of_input)
    of_input, of_states = (
        _Bytes.of(graph, _grown(weights.numpy(), hidden)) for weights in (part.of_input, part.of_states)
    )
    first = graph.weight(_ends(ways, hidden))
    cells = graph.weight(_ends(ways, hidden) * np.float32(FULL))
    shape = graph.add("Concat", graph.weight([ways]), _size(graph, x, 1), graph.weight([1]), axis=0)
    states = graph.add(
        "DynamicQuantizeLSTM",
        _with_ends(graph, x, largest),
        of_input.bytes,
        of_states.bytes,
        graph.weight(_bias(part.bias.numpy(), hidden)),
        lengths,
        graph.add("Expand", first, shape),
        graph.add("Expand", cells, shape),
        "" if part.peepholes is None else graph.weight(_wider(part.peepholes.numpy(), 3, hidden)),
        of_input.scales,
        of_input.zeros,
        of_states.scales,
        of_states.zeros,
        output=part.output,
        domain="com.microsoft",
        **{**part.attributes, "hidden_size": hidden + ENDS},
    )
    return graph.add("Slice", states, graph.weight([0]), graph.weight([hidden]), graph.weight([-1]))


def _with_ends(graph: Graph, x: str, largest: float) -> str:
    """Inputs (T, B, D) within the range, and its ends: (T, B, D + 2)."""
    ends = np.array([-largest, largest], dtype=np.float32)
    within = graph.add("Clip", x, *(graph.weight(end) for end in ends))
    shape = graph.add("Concat", _size(graph, x, 0), _size(graph, x, 1), graph.weight([ENDS]), axis=0)
    return graph.add("Concat", within, graph.add("Expand", graph.weight(ends), shape), axis=2)


def _size(graph: Graph, x: str, axis: int) -> str:
    return graph.add("Shape", x, start=axis, end=axis + 1)


def _ends(ways: int, hidden: int) -> Floats:
    """States in which only the two further units are: (ways, 1, H + 2)."""
    found = np.zeros((ways, 1, hidden + ENDS), dtype=np.float32)
    found[..., hidden:] = (-1.0, 1.0)
    return found


def _bias(bias: Floats, hidden: int) -> Floats:
    """That of all units: (ways, 8H) -> (ways, 8 (H + 2))."""
    found = _wider(bias, 8, hidden).reshape(len(bias), 8, hidden + ENDS)
    found[:, INPUT, hidden:] = -SURE
    found[:, [OUTPUT, FORGET], hidden:] = SURE
    return found.reshape(len(bias), -1)


def _wider(stacked: Floats, parts: int, hidden: int) -> Floats:
    """Parts that lie one after the other, each with the further units: (ways, P * H) -> (…, P * (H + 2))."""
    found = np.zeros((len(stacked), parts, hidden + ENDS), dtype=np.float32)
    found[..., :hidden] = stacked.reshape(len(stacked), parts, hidden)
    return found.reshape(len(stacked), -1)


def _grown(weights: Floats, hidden: int) -> Floats:
    """Weights that see nothing of what is added: (ways, 4H, D) -> (ways, 4 (H + 2), D + 2)."""
    ways, _, width = weights.shape
    found = np.zeros((ways, 4, hidden + ENDS, width + ENDS), dtype=np.float32)
    found[:, :, :hidden, :width] = weights.reshape(ways, 4, hidden, width)
    return found.reshape(ways, -1, width + ENDS)


class _Bytes(NamedTuple):
    """The names of bytes (ways, D, 4H), of their scales (ways, 4H) and of what 0 is among them."""

    bytes: str
    scales: str
    zeros: str

    @classmethod
    def of(cls, graph: Graph, weights: Floats) -> _Bytes:
        """Of weights (ways, 4H, D)."""
        ways, height, width = weights.shape
        bytes, scales = row_bytes(weights.reshape(-1, width), WITHIN)
        zeros: NDArray[Any] = np.zeros((ways, height), dtype=np.int8)
        laid = bytes.reshape(ways, height, width).transpose(0, 2, 1)
        return cls(graph.weight(laid), graph.weight(scales.reshape(ways, height)), graph.weight(zeros))
