"""The gate inputs in the loops of a language model with int8 products, in half the time.

The accuracy is nearly the same. A weight is an int8 value times the scale of its row. Activations are
quantised with a scale that was measured once (``ranges``) and is fixed. Dynamic quantisation computes the
scale from the batch, so the scores of a sentence would depend on its batch.

Activations use seven of the eight bits. Sums of two products then fit the 16 bits in which processors without
int8 instructions add them, so that every processor computes the same sums. Values beyond the measured range
are clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from onnx import TensorProto
from torch import Tensor

from gonie.export.compact import TINY, Floats, quantize_rows
from gonie.export.gates import GateInputs, word_tables
from gonie.export.graph import Graph
from gonie.export.ranges import Ranges
from gonie.nn.bilm import ProjectedLSTM

STEPS, ZERO, MOST = 63, 64, 127  # of a quantised value: steps on each side of 0, zero point, maximum


class Int8Gates:
    """Computes gate inputs with int8 products and integer sums. The four gates of a step are one product.

    ``ranges`` has the largest inputs and states of each layer. The word tables, computed once per distinct
    word, and the projection stay in float32. Quantising them would cost the most accuracy and save the least
    time.
    """

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges

    def over_words(self, graph: Graph, part: ProjectedLSTM, words: str) -> GateInputs:
        """Use an int8 product of the states, plus a row of the word table."""
        table = graph.add("Concat", *word_tables(graph, part, words), axis=1)  # (U, 4H)
        state = _Quantizer(graph, self._ranges[part].state)
        weight = _weight(graph, _array(part.state_weight) * state.step)
        split = _split_gates(graph, part)

        def gate_inputs(inner: Graph, form: str, h: str) -> list[str]:
            of_states = _product(inner, state.quantize(inner, h), weight)  # (B, 4H)
            return split(inner, inner.add("Add", of_states, inner.add("Gather", table, form, axis=0)))

        return gate_inputs

    def over_states(self, graph: Graph, part: ProjectedLSTM) -> GateInputs:
        """Use an int8 product of [x; h], each with its own scale."""
        found = self._ranges[part]
        below, state = _Quantizer(graph, found.input), _Quantizer(graph, found.state)
        scaled = (_array(part.input_weight) * below.step, _array(part.state_weight) * state.step)
        weight = _weight(graph, np.concatenate(scaled, axis=1))
        bias = graph.weight(part.bias)
        split = _split_gates(graph, part)

        def gate_inputs(inner: Graph, x: str, h: str) -> list[str]:
            both = inner.add("Concat", below.quantize(inner, x), state.quantize(inner, h), axis=1)  # (B, 2P)
            return split(inner, inner.add("Add", _product(inner, both, weight), bias))

        return gate_inputs


class _Quantizer:
    """Quantises activations of one kind."""

    def __init__(self, graph: Graph, largest: float) -> None:
        self.step = np.float32(max(largest, TINY) / STEPS)
        self._step = graph.weight(np.array(self.step))
        self._zero, self._most = (graph.weight(np.array(value, dtype=np.uint8)) for value in (ZERO, MOST))

    def quantize(self, inner: Graph, x: str) -> str:
        return inner.add("Clip", inner.add("QuantizeLinear", x, self._step, self._zero), "", self._most)


class _Weight(NamedTuple):
    """The names of int8 weights (D, H), their scales (H,), and the zero points of activations and weights."""

    bytes: str
    scales: str
    activation_zero: str
    weight_zero: str


def _weight(graph: Graph, array: Floats) -> _Weight:
    """Quantise a matrix (H, D), already multiplied by the activation step, with one scale per row."""
    bytes, scales = quantize_rows(array)
    return _Weight(
        graph.weight(bytes.T),
        graph.weight(scales),
        graph.weight(np.array(ZERO, dtype=np.uint8)),
        graph.weight(np.array(0, dtype=np.int8)),
    )


def _product(inner: Graph, bytes: str, weight: _Weight) -> str:
    """Multiply int8 activations (B, D) by a matrix: (B, H), as floats."""
    sums = inner.add("MatMulInteger", bytes, weight.bytes, weight.activation_zero, weight.weight_zero)
    return inner.add("Mul", inner.add("Cast", sums, to=TensorProto.FLOAT), weight.scales)


def _split_gates(graph: Graph, part: ProjectedLSTM) -> Callable[[Graph, str], list[str]]:
    """Return a function that splits the inputs of all gates (B, 4H) by gate."""
    sizes = graph.weight([part.hidden] * 4)
    return lambda inner, gate_inputs: inner.several("Split", gate_inputs, sizes, results=4, axis=1)


def _array(weight: Tensor) -> Floats:
    array: Floats = weight.detach().float().cpu().numpy()
    return array
