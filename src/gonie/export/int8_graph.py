"""An ONNX graph with int8 weights, which is smaller and faster."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from torch import Tensor, nn

from gonie.export.compact import Floats, quantize_blocks
from gonie.export.graph import Graph, Recurrence
from gonie.export.int8_lstm import int8_lstm

BLOCK, ROW_BLOCK = 16, 32  # neighbours in a matrix, and in a row of a table, that share a scale
SMALL = 4096  # smaller tables are not quantised


class Int8Graph(Graph):
    """A graph that stores tables and large matrices as int8, with a scale for each block of a row.

    The blocks are those of ``quantize_blocks``, or whole rows if these are no multiple of a block. Table rows
    are converted to floats when they are looked up. An LSTM uses int8 products if the ``ranges`` of its
    inputs were measured (``int8_lstm``). The weights of other recurrences, and those of the graph of forms
    and of transformers, are converted to floats when the graph is loaded. Int8 products in a transformer
    would change too many predictions: each of its layers adds to the error of those below.
    """

    def rows(self, table: Tensor, ids: str) -> str:
        """Look up rows of ``table`` (V, D), stored as int8 and scales."""
        if table.numel() < SMALL:
            return super().rows(table, ids)
        bytes, scales = quantize_blocks(_array(table), _block_size(table.shape[1], ROW_BLOCK))
        number, size = bytes.shape[1:]
        picked, scale = (
            self.add("Cast", self.add("Gather", part, ids, axis=0), to=TensorProto.FLOAT)
            for part in (self.weight(bytes.reshape(table.shape)), self.weight(scales[:, :, 0]))
        )
        if number > 1:
            blocks = self.weight(np.repeat(np.arange(number), size))  # (D,)
            scale = self.add("Gather", scale, blocks, axis=-1)
        return self.add("Mul", picked, scale)

    def matrices(self, weights: Tensor) -> str:
        """Return matrices (N, R, D) of floats, stored as int8."""
        array = _array(weights)
        quantized = quantize_blocks(array.reshape(-1, array.shape[2]), _block_size(array.shape[2], BLOCK))
        bytes, scales = (self.add("Cast", self.weight(part), to=TensorProto.FLOAT) for part in quantized)
        return self.add("Reshape", self.add("Mul", bytes, scales), self.weight([*array.shape]))

    def recurrence(self, x: str, lengths: str, part: Recurrence, *, largest: float | None = None) -> str:
        """Add an LSTM with int8 products."""
        if part.op != "LSTM" or not largest:
            return super().recurrence(x, lengths, part, largest=largest)
        return int8_lstm(self, x, lengths, part, largest)

    def dense(self, x: str, layer: nn.Linear) -> str:
        """Add a linear layer whose weights are stored as int8."""
        weight = self.matrices(layer.weight.unsqueeze(0))
        product = self.add(
            "MatMul", x, self.add("Transpose", self.add("Squeeze", weight, self.weight([0])), perm=[1, 0])
        )
        return self.add("Add", product, self.weight(layer.bias))

    def _new_graph(self) -> Graph:
        return Int8Graph(longest=self.longest, ranges=self.ranges)


def _array(weights: Tensor) -> Floats:
    array: Floats = weights.detach().float().cpu().numpy()
    return array


def _block_size(width: int, block: int) -> int:
    """Return the size of the blocks of rows of this width."""
    return block if width % block == 0 else width
