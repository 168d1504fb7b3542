"""An LSTM with int8 products and fixed scales.

The ``DynamicQuantizeLSTM`` operator of onnxruntime uses int8 products. As a single operator it is faster on
one sentence than a loop of others. But it computes the scale of its inputs from the whole batch, and the
scale of its states from the whole batch at each step. So the scores of a sentence would depend on its batch.

This module makes the minimum and maximum the same in every batch. The inputs are clipped to a measured range
and extended by two numbers, the ends of this range, which have zero weights. The states are extended by two
units that add 1 and -1 at each step and forget nothing. Their cells are t and -t after t steps, and no other
cell can be larger. So the bytes do not depend on the batch, and integer sums do not depend on their order. A
sentence has bitwise the same scores alone and in a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.export.compact import Floats, row_bytes
from gonie.export.graph import Graph, Recurrence

WITHIN = 63  # bound of a weight: older processors add two products in 16 bits, which must not overflow
ENDS = 2  # extra numbers per input, and extra units per state
SURE = 30.0  # gate input at which a gate is fully open
CELL = 3  # the cell input comes after the three gates


def byte_lstm(graph: Graph, x: str, lengths: str, part: Recurrence, largest: float) -> str:
    """Add the LSTM of ``Graph.recurrence`` over inputs (T, B, D), which are clipped to ``largest``."""
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
    """Clip inputs (T, B, D) to the range and append its ends: (T, B, D + 2)."""
    ends = [graph.weight(np.array(end, dtype=np.float32)) for end in (-largest, largest)]
    behind = graph.weight([0, 0, 0, 0, 0, 1])  # append one number to each input
    found = graph.add("Clip", x, *ends)
    for end in ends:
        found = graph.add("Pad", found, behind, end)
    return found


def _bias(bias: Floats, hidden: int) -> Floats:
    """Return the bias with the extra units: (ways, 8H) -> (ways, 8 (H + 2))."""
    found = _wider(bias, 8, hidden).reshape(len(bias), 8, hidden + ENDS)
    found[:, :CELL, hidden:] = SURE
    found[:, CELL, hidden:] = (-SURE, SURE)
    return found.reshape(len(bias), -1)


def _wider(stacked: Floats, parts: int, hidden: int) -> Floats:
    """Add the extra units to each of P concatenated parts: (ways, P * H) -> (…, P * (H + 2))."""
    found = np.zeros((len(stacked), parts, hidden + ENDS), dtype=np.float32)
    found[..., :hidden] = stacked.reshape(len(stacked), parts, hidden)
    return found.reshape(len(stacked), -1)


def _grown(weights: Floats, hidden: int) -> Floats:
    """Add zero weights for the extra inputs and units: (ways, 4H, D) -> (ways, 4 (H + 2), D + 2)."""
    ways, _, width = weights.shape
    found = np.zeros((ways, 4, hidden + ENDS, width + ENDS), dtype=np.float32)
    found[:, :, :hidden, :width] = weights.reshape(ways, 4, hidden, width)
    return found.reshape(ways, -1, width + ENDS)


class _Bytes(NamedTuple):
    """The names of int8 weights (ways, D, 4H), their scales (ways, 4H) and their zero points."""

    bytes: str
    scales: str
    zeros: str

    @classmethod
    def of(cls, graph: Graph, weights: Floats) -> _Bytes:
        """Quantise weights (ways, 4H, D)."""
        ways, height, width = weights.shape
        bytes, scales = row_bytes(weights.reshape(-1, width), WITHIN)
        zeros: NDArray[Any] = np.zeros((ways, height), dtype=np.int8)
        laid = bytes.reshape(ways, height, width).transpose(0, 2, 1)
        return cls(graph.weight(laid), graph.weight(scales.reshape(ways, height)), graph.weight(zeros))
