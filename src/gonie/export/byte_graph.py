"""A graph whose weights are bytes: small and fast."""

from __future__ import annotations

from onnx import TensorProto
from torch import Tensor

from gonie.export.byte_lstm import byte_lstm
from gonie.export.compact import row_bytes
from gonie.export.graph import Graph, Recurrence

SMALL = 4096  # numbers: fewer are kept as they are


class ByteGraph(Graph):
    """Keeps tables and the weights of recurrences as bytes with a scale a row.

    Of a table, rows become floats as they are looked up. An LSTM multiplies bytes where the ``ranges`` of its
    inputs were measured (``byte_lstm``); the weights of any other recurrence, and those of the graph of
    forms, become floats when the graph is loaded.
    """

    def rows(self, table: Tensor, ids: str) -> str:
        """Rows of ``table`` (V, D): of bytes and their scales."""
        if table.numel() < SMALL:
            return super().rows(table, ids)
        bytes, scales = row_bytes(table.detach().float().cpu().numpy())
        picked, scale = (
            self.add("Gather", self.weight(part), ids, axis=0) for part in (bytes, scales[:, None])
        )
        return self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scale)

    def matrices(self, weights: Tensor) -> str:
        """Matrices (N, R, D) of floats, kept as bytes."""
        number, height, width = weights.shape
        bytes, scales = row_bytes(weights.detach().float().cpu().numpy().reshape(-1, width))
        made = self.add("Cast", self.weight(bytes.reshape(number, height, width)), to=TensorProto.FLOAT)
        return self.add("Mul", made, self.weight(scales.reshape(number, height, 1)))

    def recurrence(self, x: str, lengths: str, part: Recurrence, *, largest: float | None = None) -> str:
        """An LSTM from products of bytes."""
        if part.op != "LSTM" or not largest:
            return super().recurrence(x, lengths, part, largest=largest)
        return byte_lstm(self, x, lengths, part, largest)

    def _another(self) -> Graph:
        return ByteGraph(longest=self.longest, ranges=self.ranges)
