"""Lossless compression of weights below float32, to keep bundles small.

A language model is often stored in half precision, or as int8 with a scale per row, and then frozen. Its
float32 weights still equal those numbers. ONNX Runtime converts them to float32 once, when it loads the
graph.

``row_bytes`` is for int8 exports, which round each weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from torch import Tensor

from gonie.export.graph import Graph

Floats = NDArray[np.float32]
LARGEST, SMALLEST = 127, 64
"""The range of the largest int8 value of a row, unless its scale was too small for half precision."""
TINY = 1e-30  # instead of 0, where it is divided by


class RowBytes(NamedTuple):
    """``bytes`` (R, D) times ``scales`` (R,) is nearly the matrix: off by half a scale at most."""

    bytes: NDArray[np.int8]
    scales: Floats


def row_bytes(array: Floats, largest: int = LARGEST) -> RowBytes:
    """The largest number of each row of ``array`` (R, D) becomes ``largest``, or its opposite."""
    scales = np.maximum(np.abs(array).max(1, initial=0.0), TINY) / largest  # (R,)
    return RowBytes(np.rint(array / scales[:, None]).astype(np.int8), scales.astype(np.float32))


def compact(graph: Graph, weight: Tensor) -> str:
    """Add a constant equal to ``weight`` (R, …) in float32, stored as small as possible."""
    array = weight.detach().float().cpu().numpy()
    if array.ndim == 2 and (found := _as_bytes(array)) is not None:
        bytes, scales = (graph.add("Cast", graph.weight(part), to=TensorProto.FLOAT) for part in found)
        return graph.add("Mul", bytes, scales)
    half = _halves(array)
    if np.array_equal(half, array):
        return graph.add("Cast", graph.weight(half), to=TensorProto.FLOAT)
    return graph.weight(array)


def _as_bytes(array: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]] | None:
    """Return int8 values (R, D) and a float16 scale per row (R, 1) that reproduce ``array``, or None.

    The scale is unknown, but the largest value of a row is the scale times an integer near 127.
    """
    peaks = np.abs(array).max(1, keepdims=True, initial=0.0)  # (R, 1)
    scales = np.ones(peaks.shape, dtype=np.float16)
    bytes = np.zeros(array.shape, dtype=np.int8)
    open_ = np.flatnonzero(peaks)  # rows that are not all 0
    for largest in range(LARGEST, SMALLEST - 1, -1):
        if not len(open_):
            return bytes, scales
        rows, scale = array[open_], _halves(peaks[open_] / np.float32(largest))
        whole = np.rint(rows / np.maximum(scale, np.finfo(np.float16).smallest_subnormal))
        fits = ((whole * scale == rows) & (np.abs(whole) <= LARGEST)).all(1)
        bytes[open_[fits]], scales[open_[fits]] = whole[fits], scale[fits]
        open_ = open_[~fits]
    return None


def _halves(array: Floats) -> NDArray[np.float16]:
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(np.float16)
