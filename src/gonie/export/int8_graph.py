"""An ONNX graph with int8 weights, which is smaller and faster."""

from __future__ import annotations

from onnx import TensorProto
from torch import Tensor, nn

from gonie.export.compact import quantize_rows
from gonie.export.graph import Graph, Recurrence
from gonie.export.int8_lstm import int8_lstm

BLOCK = 32  # neighbouring weights of a transformer that share a scale
SMALL = 4096  # smaller tables are not quantised


class Int8Graph(Graph):
    """A graph that stores tables and recurrent weights as int8 with a scale per row.

    Table rows are converted to floats when they are looked up. An LSTM uses int8 products if the ``ranges``
    of its inputs were measured (``int8_lstm``). The weights of other recurrences, and those of the graph of
    forms and of transformers, are converted to floats when the graph is loaded. Int8 products in a
    transformer would change too many predictions: each of its layers adds to the error of those below.
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
        """Add a linear layer whose weights are stored as int8, with a scale for each ``BLOCK`` of a row."""
        height, width = layer.weight.shape
        size = BLOCK if width % BLOCK == 0 else width
        blocks = self.matrices(layer.weight.reshape(height, width // size, size))
        weight = self.add("Reshape", blocks, self.weight([height, width]))
        product = self.add("MatMul", x, self.add("Transpose", weight, perm=[1, 0]))
        return self.add("Add", product, self.weight(layer.bias))

    def _new_graph(self) -> Graph:
        return Int8Graph(longest=self.longest, ranges=self.ranges)
