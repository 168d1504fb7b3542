"""Lossless compression of weights below float32, to keep bundles small.

A language model is often stored in half precision, or as int8 with a scale per row, and then frozen. Its
float32 weights still equal those numbers. ONNX Runtime converts them to float32 once, when it loads the
graph.

``quantize_rows`` and ``quantize_blocks`` are for int8 exports. They round each weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from torch import Tensor

from gonie.export.graph import Graph

Floats = NDArray[np.float32]
LARGEST, SMALLEST = 127, 64
"""The range of the largest int8 value of a row, unless its scale was too small for half precision."""
TRIED = range(LARGEST, 111, -1)
"""The integers that the largest value of a block may become."""
CHUNK = 4096  # rows that are quantised at a time
TINY = 1e-30  # replaces 0 in divisions


class QuantizedRows(NamedTuple):
    """A matrix as ``bytes`` (R, D) times ``scales`` (R,). Each number is off by at most half a scale."""

    bytes: NDArray[np.int8]
    scales: Floats


def quantize_rows(array: Floats, largest: int = LARGEST) -> QuantizedRows:
    """Quantise each row of ``array`` (R, D) so that its largest absolute value becomes ``largest``."""
    scales = np.maximum(np.abs(array).max(1, initial=0.0), TINY) / largest  # (R,)
    return QuantizedRows(np.rint(array / scales[:, None]).astype(np.int8), scales.astype(np.float32))


class QuantizedBlocks(NamedTuple):
    """A matrix of N blocks of S numbers per row: ``bytes`` (R, N, S) times ``scales`` (R, N, 1)."""

    bytes: NDArray[np.int8]
    scales: NDArray[Any]


def quantize_blocks(array: Floats, size: int) -> QuantizedBlocks:
    """Quantise each block of ``size`` neighbours in a row of ``array`` (R, D).

    Of the scales that turn the largest absolute value of a block into an integer of ``TRIED``, the one with
    the smallest error is chosen. Scales are float16, or float32 if the array has very large numbers.
    """
    blocks = array.reshape(len(array), -1, size)
    bytes = np.zeros(blocks.shape, dtype=np.int8)
    large = np.abs(array).max(initial=0.0) > TRIED[-1] * float(np.finfo(np.float16).max)
    scales = np.zeros((*blocks.shape[:2], 1), dtype=np.float32 if large else np.float16)
    for start in range(0, len(blocks), CHUNK):  # keeps the memory small
        rows = slice(start, start + CHUNK)
        bytes[rows], scales[rows] = _best_scales(blocks[rows], scales.dtype)
    return QuantizedBlocks(bytes, scales)


def _best_scales(blocks: Floats, kind: np.dtype[Any]) -> QuantizedBlocks:
    """Quantise blocks (R, N, S) with the best of some scales of this type each."""
    peaks = np.abs(blocks).max(2, keepdims=True)  # (R, N, 1)
    bytes = np.zeros(blocks.shape, dtype=np.int8)
    scales = np.zeros(peaks.shape, dtype=kind)
    least = np.full(peaks.shape, np.inf, dtype=np.float32)  # the error with the best scale so far
    for largest in TRIED:
        scale = np.maximum((peaks / largest).astype(kind), np.finfo(np.float16).smallest_subnormal)
        whole = np.clip(np.rint(blocks / scale), -LARGEST, LARGEST)
        error = np.square((whole * scale - blocks) / np.maximum(peaks, TINY)).sum(2, keepdims=True)
        better = error < least
        bytes = np.where(better, whole, bytes).astype(np.int8)
        scales, least = np.where(better, scale, scales), np.where(better, error, least)
    return QuantizedBlocks(bytes, scales)


def compact(graph: Graph, weight: Tensor) -> str:
    """Add a constant equal to ``weight`` (R, …) in float32, stored as small as possible."""
    array = weight.detach().float().cpu().numpy()
    if array.ndim == 2 and (found := _as_int8(array)) is not None:
        bytes, scales = (graph.add("Cast", graph.weight(part), to=TensorProto.FLOAT) for part in found)
        return graph.add("Mul", bytes, scales)
    half = _to_float16(array)
    if np.array_equal(half, array):
        return graph.add("Cast", graph.weight(half), to=TensorProto.FLOAT)
    return graph.weight(array)


def _as_int8(array: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]] | None:
    """Return int8 values (R, D) and a float16 scale per row (R, 1) that reproduce ``array``, or None.

    The scale is unknown, but the largest value of a row is the scale times an integer near 127.
    """
    peaks = np.abs(array).max(1, keepdims=True, initial=0.0)  # (R, 1)
    scales = np.ones(peaks.shape, dtype=np.float16)
    bytes = np.zeros(array.shape, dtype=np.int8)
    remaining = np.flatnonzero(peaks)  # rows that are not all 0
    for largest in range(LARGEST, SMALLEST - 1, -1):
        if not len(remaining):
            return bytes, scales
        rows, scale = array[remaining], _to_float16(peaks[remaining] / np.float32(largest))
        whole = np.rint(rows / np.maximum(scale, np.finfo(np.float16).smallest_subnormal))
        fits = ((whole * scale == rows) & (np.abs(whole) <= LARGEST)).all(1)
        bytes[remaining[fits]], scales[remaining[fits]] = whole[fits], scale[fits]
        remaining = remaining[~fits]
    return None


def _to_float16(array: Floats) -> NDArray[np.float16]:
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(np.float16)
