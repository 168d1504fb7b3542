"""An LSTM whose products are of bytes, by scales that never change.

onnxruntime's ``DynamicQuantizeLSTM`` multiplies bytes and is one operator, where loops of others take longer
for a single sentence. But it takes the scale of its inputs from all of a batch, and that of its states from
all of them at each step: a sentence's scores would depend on its company. So its numbers are made to have the
same ends whoever is there. The inputs are kept within a range that was measured, and have two further
numbers, the ends of this range, which no weight looks at. The states have two further units, which take in 1
and -1 at each step and forget nothing: their cells are t and -t after t steps, and no cell can be larger. So
bytes do not depend on company, and sums of whole numbers do not depend on their order: a sentence alone and
among others has the same scores to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.export.compact import Floats, row_bytes
from gonie.export.graph import Graph, Recurrence

WITHIN = 63  # of a weight's byte: older processors add two products in sixteen bits, which then fit
ENDS = 2  # numbers more in each input, and units more in each state
SURE = 30.0  # of a gate: quite open
CELL = 3  # what a cell takes in comes after the three gates


def byte_lstm(graph: Graph, x: str, lengths: str, part: Recurrence, largest: float) -> str:
    """As ``Graph.recurrence`` of an LSTM, over inputs (T, B, D) that are taken for ``largest`` beyond it."""
    hidden = part.hidden
    of_input, of_states = (
        _Bytes.of(graph, _grown(weights.numpy(), hidden)) for weights in (part.of_input, part.of_states)
    )
    states = graph.add(
        "DynamicQuantizeLSTM",
        _with_ends(graph, x, largest),
        of_input.bytes,
        of_states.bytes,
        graph.weight(_bias(part.bias.numpy(), hidden)),
        lengths,
        "",
        "",
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
    ends = [graph.weight(np.array(end, dtype=np.float32)) for end in (-largest, largest)]
    behind = graph.weight([0, 0, 0, 0, 0, 1])  # one number more in each input
    found = graph.add("Clip", x, *ends)
    for end in ends:
        found = graph.add("Pad", found, behind, end)
    return found


def _bias(bias: Floats, hidden: int) -> Floats:
    """That of all units: (ways, 8H) -> (ways, 8 (H + 2))."""
    found = _wider(bias, 8, hidden).reshape(len(bias), 8, hidden + ENDS)
    found[:, :CELL, hidden:] = SURE
    found[:, CELL, hidden:] = (-SURE, SURE)
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
