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

from gonie.export.compact import Floats, quantize_rows
from gonie.export.graph import Graph, Recurrence

MAX_WEIGHT = 63  # bound of a weight: older processors add two products in 16 bits, which must not overflow
EXTRA = 2  # extra numbers per input, and extra units per state
OPEN = 30.0  # gate input at which a gate is fully open
CELL = 3  # the cell input comes after the three gates


def int8_lstm(graph: Graph, x: str, lengths: str, part: Recurrence, largest: float) -> str:
    """Add the LSTM of ``Graph.recurrence`` over inputs (T, B, D), which are clipped to ``largest``."""
    hidden = part.hidden
    of_input, of_states = (
        _Int8Weights.of(graph, _pad_weights(weights.numpy(), hidden))
        for weights in (part.of_input, part.of_states)
    )
    states = graph.add(
        "DynamicQuantizeLSTM",
        _append_range(graph, x, largest),
        of_input.bytes,
        of_states.bytes,
        graph.weight(_pad_bias(part.bias.numpy(), hidden)),
        lengths,
        "",
        "",
        "" if part.peepholes is None else graph.weight(_add_units(part.peepholes.numpy(), 3, hidden)),
        of_input.scales,
        of_input.zeros,
        of_states.scales,
        of_states.zeros,
        output=part.output,
        domain="com.microsoft",
        **{**part.attributes, "hidden_size": hidden + EXTRA},
    )
    return graph.add("Slice", states, graph.weight([0]), graph.weight([hidden]), graph.weight([-1]))


def _append_range(graph: Graph, x: str, largest: float) -> str:
    """Clip inputs (T, B, D) to the range and append its ends: (T, B, D + 2)."""
    ends = [graph.weight(np.array(end, dtype=np.float32)) for end in (-largest, largest)]
    behind = graph.weight([0, 0, 0, 0, 0, 1])  # append one number to each input
    padded = graph.add("Clip", x, *ends)
    for end in ends:
        padded = graph.add("Pad", padded, behind, end)
    return padded


def _pad_bias(bias: Floats, hidden: int) -> Floats:
    """Return the bias with the extra units: (ways, 8H) -> (ways, 8 (H + 2))."""
    padded = _add_units(bias, 8, hidden).reshape(len(bias), 8, hidden + EXTRA)
    padded[:, :CELL, hidden:] = OPEN
    padded[:, CELL, hidden:] = (-OPEN, OPEN)
    return padded.reshape(len(bias), -1)


def _add_units(stacked: Floats, parts: int, hidden: int) -> Floats:
    """Add the extra units to each of P concatenated parts: (ways, P * H) -> (…, P * (H + 2))."""
    padded = np.zeros((len(stacked), parts, hidden + EXTRA), dtype=np.float32)
    padded[..., :hidden] = stacked.reshape(len(stacked), parts, hidden)
    return padded.reshape(len(stacked), -1)


def _pad_weights(weights: Floats, hidden: int) -> Floats:
    """Add zero weights for the extra inputs and units: (ways, 4H, D) -> (ways, 4 (H + 2), D + 2)."""
    ways, _, width = weights.shape
    padded = np.zeros((ways, 4, hidden + EXTRA, width + EXTRA), dtype=np.float32)
    padded[:, :, :hidden, :width] = weights.reshape(ways, 4, hidden, width)
    return padded.reshape(ways, -1, width + EXTRA)


class _Int8Weights(NamedTuple):
    """The names of int8 weights (ways, D, 4H), their scales (ways, 4H) and their zero points."""

    bytes: str
    scales: str
    zeros: str

    @classmethod
    def of(cls, graph: Graph, weights: Floats) -> _Int8Weights:
        """Quantise weights (ways, 4H, D)."""
        ways, height, width = weights.shape
        bytes, scales = quantize_rows(weights.reshape(-1, width), MAX_WEIGHT)
        zeros: NDArray[Any] = np.zeros((ways, height), dtype=np.int8)
        transposed = bytes.reshape(ways, height, width).transpose(0, 2, 1)
        return cls(graph.weight(transposed), graph.weight(scales.reshape(ways, height)), graph.weight(zeros))
