"""What the gates of a language model's loops see, from products of bytes: half the time, nearly all digits.

A weight is a byte times a scale of its row. A number that is multiplied with it becomes a byte by a scale
that was measured once (``ranges``) and stays: were it taken from the batch, as quantisation at run time does
it, a sentence's scores would depend on its company.

Numbers take seven bits of the eight. Sums of two products then fit the sixteen bits in which processors
without an instruction for bytes add them, so that every processor finds the same sums. A number beyond the
range that was measured is taken for the end of that range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from onnx import TensorProto
from torch import Tensor

from gonie.export.compact import TINY, Floats, row_bytes
from gonie.export.gates import Seen, word_tables
from gonie.export.graph import Graph
from gonie.export.ranges import Ranges
from gonie.nn.bilm import ProjectedLSTM

STEPS, ZERO, MOST = 63, 64, 127  # of a number's byte: the steps to each side of 0, what 0 is, the largest


class Int8Gates:
    """Bytes by bytes, added up in whole numbers; the four gates of a step are one product.

    ``ranges`` says how large the inputs and the states of each layer are. What words add to the gates, once
    for each distinct word, and the projection stay in all digits: there bytes would cost the most accuracy
    and save the least.
    """

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges

    def over_words(self, graph: Graph, part: ProjectedLSTM, words: str) -> Seen:
        """Of the states, with what words add as a row of a table."""
        table = graph.add("Concat", *word_tables(graph, part, words), axis=1)  # (U, 4H)
        state = _Number(graph, self._ranges[part].state)
        weight = _weight(graph, _array(part.state_weight) * state.step)
        split = _fourths(graph, part)

        def seen(inner: Graph, form: str, h: str) -> list[str]:
            of_states = _product(inner, state.byte(inner, h), weight)  # (B, 4H)
            return split(inner, inner.add("Add", of_states, inner.add("Gather", table, form, axis=0)))

        return seen

    def over_states(self, graph: Graph, part: ProjectedLSTM) -> Seen:
        """Of [x; h], each by its own scale."""
        found = self._ranges[part]
        below, state = _Number(graph, found.input), _Number(graph, found.state)
        scaled = (_array(part.input_weight) * below.step, _array(part.state_weight) * state.step)
        weight = _weight(graph, np.concatenate(scaled, axis=1))
        bias = graph.weight(part.bias)
        split = _fourths(graph, part)

        def seen(inner: Graph, x: str, h: str) -> list[str]:
            both = inner.add("Concat", below.byte(inner, x), state.byte(inner, h), axis=1)  # (B, 2P)
            return split(inner, inner.add("Add", _product(inner, both, weight), bias))

        return seen


class _Number:
    """How numbers of one kind become bytes."""

    def __init__(self, graph: Graph, largest: float) -> None:
        self.step = np.float32(max(largest, TINY) / STEPS)
        self._step = graph.weight(np.array(self.step))
        self._zero, self._most = (graph.weight(np.array(byte, dtype=np.uint8)) for byte in (ZERO, MOST))

    def byte(self, inner: Graph, x: str) -> str:
        return inner.add("Clip", inner.add("QuantizeLinear", x, self._step, self._zero), "", self._most)


class _Weight(NamedTuple):
    """The names of bytes (D, H), of their scales (H,), and of what 0 is among numbers and among weights."""

    bytes: str
    scales: str
    number_zero: str
    weight_zero: str


def _weight(graph: Graph, array: Floats) -> _Weight:
    """A matrix (H, D), already times the step of what it is multiplied with, as bytes with a scale a row."""
    bytes, scales = row_bytes(array)
    return _Weight(
        graph.weight(bytes.T),
        graph.weight(scales),
        graph.weight(np.array(ZERO, dtype=np.uint8)),
        graph.weight(np.array(0, dtype=np.int8)),
    )


def _product(inner: Graph, bytes: str, weight: _Weight) -> str:
    """Bytes (B, D) by a matrix: (B, H), as floats."""
    sums = inner.add("MatMulInteger", bytes, weight.bytes, weight.number_zero, weight.weight_zero)
    return inner.add("Mul", inner.add("Cast", sums, to=TensorProto.FLOAT), weight.scales)


def _fourths(graph: Graph, part: ProjectedLSTM) -> Callable[[Graph, str], list[str]]:
    """Cuts what all gates see (B, 4H) into what each sees."""
    sizes = graph.weight([part.hidden] * 4)
    return lambda inner, seen: inner.several("Split", seen, sizes, results=4, axis=1)


def _array(weight: Tensor) -> Floats:
    array: Floats = weight.detach().float().cpu().numpy()
    return array
