"""Graphs whose weights are bytes: small, and where a single sentence is read, fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto
from torch import Tensor

from gonie.export.graph import Graph
from gonie.export.row_bytes import row_bytes

SMALL = 4096  # numbers: fewer are kept as they are
WITHIN = 63  # of a byte of a recurrence: older processors add two products in sixteen bits, which then fit


class ByteGraph(Graph):
    """Keeps tables and the weights of recurrences as bytes with a scale a row.

    Of a table, rows become floats as they are looked up; other weights do when the graph is loaded, so that
    it computes as any other does.
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

    def _another(self) -> Graph:
        return ByteGraph(longest=self.longest, ranges=self.ranges)


class SentenceByteGraph(ByteGraph):
    """One whose LSTMs multiply bytes too, by scales that they take from what they are given.

    So it must be given one sentence or text at a time, lest scores depend on company: ``alone``. With nothing
    beside it a sentence waits for memory, not for arithmetic, and bytes are a quarter of it. Its graph of
    forms, which are computed together, multiplies floats.
    """

    alone = True

    def recurrence(
        self, op: str, x: str, weights: tuple[Tensor, Tensor, Tensor], lengths: str, *extra: str, **more: Any
    ) -> str:
        """The LSTM whose products are of bytes; other recurrences have none."""
        if op != "LSTM":
            return super().recurrence(op, x, weights, lengths, *extra, **more)
        matrices = [self._bytes(weight) for weight in weights[:2]]
        states = [*extra, *[""] * (3 - len(extra))]  # the first of each kind, and peepholes
        given = [name for name, _, _ in matrices]
        scales = [name for _, scale, zero in matrices for name in (scale, zero)]
        return self.add(
            "DynamicQuantizeLSTM",
            x,
            *given,
            self.weight(weights[2]),
            lengths,
            *states,
            *scales,
            domain="com.microsoft",
            **more,
        )

    def _bytes(self, weight: Tensor) -> tuple[str, str, str]:
        """Names of bytes (N, D, R), of their scales (N, R) and of what 0 is, for weights (N, R, D)."""
        number, height, width = weight.shape
        bytes, scales = row_bytes(weight.detach().float().cpu().numpy().reshape(-1, width), WITHIN)
        laid = bytes.reshape(number, height, width).transpose(0, 2, 1)
        zeros = np.zeros((number, height), dtype=np.int8)
        return self.weight(laid), self.weight(scales.reshape(number, height)), self.weight(zeros)
