"""An ONNX graph with int8 weights, which is smaller and faster."""

from __future__ import annotations

from onnx import TensorProto
from torch import Tensor

from gonie.export.compact import quantize_rows
from gonie.export.graph import Graph, Recurrence
from gonie.export.int8_lstm import int8_lstm

SMALL = 4096  # smaller tables are not quantised


class Int8Graph(Graph):
    """A graph that stores tables and recurrent weights as int8 with a scale per row.

    Table rows are converted to floats when they are looked up. An LSTM uses int8 products if the ``ranges``
    of its inputs were measured (``int8_lstm``). The weights of other recurrences, and those of the graph of
    forms, are converted to floats when the graph is loaded.
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

    def _new_graph(self) -> Graph:
        return Int8Graph(longest=self.longest, ranges=self.ranges)
