"""An ONNX graph with int8 weights, which is smaller and faster."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from torch import Tensor, nn

from gonie.export.compact import TINY, quantize_rows
from gonie.export.graph import Graph, Recurrence
from gonie.export.int8_lstm import int8_lstm

SEVEN_BITS, EIGHT_BITS, ZERO = 63, 127, 128  # steps on each side of 0, and the zero point of vectors
SMALL = 4096  # smaller tables are not quantised


class Int8Graph(Graph):
    """A graph that stores tables and recurrent weights as int8 with a scale per row.

    Table rows are converted to floats when they are looked up. An LSTM uses int8 products if the ``ranges``
    of its inputs were measured (``int8_lstm``). The weights of other recurrences, and those of the graph of
    forms, are converted to floats when the graph is loaded. The linear layers of a transformer use int8
    products with a scale for each vector.
    """

    def rows(self, table: Tensor, ids: str) -> str:
        """Look up rows of ``table`` (V, D), stored as int8 and scales."""
        if table.numel() < SMALL:
            return super().rows(table, ids)
        bytes, scales = quantize_rows(table.detach().float().cpu().numpy())
        picked, scale = (
            self.add("Gather", self.weight(part), ids, axis=0) for part in (bytes, scales[:, None])
        )
        return self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scale)

    def matrices(self, weights: Tensor) -> str:
        """Return matrices (N, R, D) of floats, stored as int8."""
        number, height, width = weights.shape
        bytes, scales = quantize_rows(weights.detach().float().cpu().numpy().reshape(-1, width))
        made = self.add("Cast", self.weight(bytes.reshape(number, height, width)), to=TensorProto.FLOAT)
        return self.add("Mul", made, self.weight(scales.reshape(number, height, 1)))

    def recurrence(self, x: str, lengths: str, part: Recurrence, *, largest: float | None = None) -> str:
        """Add an LSTM with int8 products."""
        if part.op != "LSTM" or not largest:
            return super().recurrence(x, lengths, part, largest=largest)
        return int8_lstm(self, x, lengths, part, largest)

    def dense(self, x: str, layer: nn.Linear) -> str:
        """Add a linear layer with int8 products: (…, D) -> (…, H).

        Each vector of x is quantised by its own largest value, so a result depends on that vector alone. The
        weights use seven of the eight bits, so that sums of two products fit 16 bits (``int8_gates``). The
        vectors have a few values much larger than the others, and need the eighth bit more.
        """
        weight = layer.weight.detach().float().cpu().numpy()
        bytes, scales = quantize_rows(weight, SEVEN_BITS)  # (H, D), (H,)
        largest = self.add("ReduceMax", self.add("Abs", x), self.weight([-1]), keepdims=1)  # (…, 1)
        step = self.add("Div", self.add("Max", largest, self._constant(TINY)), self._constant(EIGHT_BITS))
        shifted = self.add("Add", self.add("Div", x, step), self._constant(ZERO + 0.5))  # rounds below
        picked = self.add("Cast", shifted, to=TensorProto.UINT8)  # 1 to 255
        zero, none = self.weight(np.array(ZERO, dtype=np.uint8)), self.weight(np.array(0, dtype=np.int8))
        sums = self.add("MatMulInteger", picked, self.weight(bytes.T), zero, none)
        product = self.add("Mul", self.add("Cast", sums, to=TensorProto.FLOAT), step)
        return self.add("Add", self.add("Mul", product, self.weight(scales)), self.weight(layer.bias))

    def _constant(self, value: float) -> str:
        return self.weight(np.array(value, dtype=np.float32))

    def _new_graph(self) -> Graph:
        return Int8Graph(longest=self.longest, ranges=self.ranges)
