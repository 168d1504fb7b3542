"""Tests compact weights: they are restored exactly, or stay in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import TensorProto, numpy_helper
from torch import Tensor

from gonie.export.compact import compact, quantize_blocks, quantize_rows
from gonie.export.graph import Graph, GraphOutput
from gonie.tasks.language_model.torch.storage import Storage, pack, unpack

KINDS = {"int8": TensorProto.INT8, "float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT}


def kept(weight: Tensor) -> tuple[Any, set[int]]:
    """Return the weight as ONNX Runtime computes it, and the types that the graph stores."""
    graph = Graph()
    model = graph.serialize("kept", {"w": GraphOutput(compact(graph, weight), tuple(weight.shape))})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    types = {array.data_type for array in onnx.load_from_string(model).graph.initializer}
    return session.run(["w"], {})[0], types


def stored(weight: Tensor, storage: Storage) -> Tensor:
    return unpack(pack({"w": weight}, storage))["w"]


@settings(deadline=None, max_examples=30)
@example(storage="int8", rows=1, columns=1, size=0.0001, seed=2)  # the scale is a subnormal float16
@given(
    storage=st.sampled_from(sorted(KINDS)),
    rows=st.integers(1, 9),
    columns=st.integers(1, 33),
    size=st.sampled_from([1e-4, 0.01, 1.0, 300.0]),
    seed=st.integers(0, 10_000),
)
def test_a_stored_weight_is_restored_exactly(
    storage: Storage, rows: int, columns: int, size: float, seed: int
) -> None:
    """A frozen language model in a bundle must be exactly the one that the tagger was trained with."""
    drawn = size * torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    weight = stored(drawn, storage)
    got, types = kept(weight)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, weight.numpy())
    if storage == "int8":
        assert TensorProto.FLOAT not in types


def test_int8_weights_take_a_quarter_of_the_space() -> None:
    weight = stored(torch.randn(40, 50), "int8")
    weight[3] = 0.0
    graph = Graph()
    compact(graph, weight)
    sizes = {a.data_type: numpy_helper.to_array(a).nbytes for a in graph._weights}
    assert sizes == {TensorProto.INT8: 40 * 50, TensorProto.FLOAT16: 40 * 2}


@pytest.mark.parametrize("shape", [(7,), (), (3, 0)])
def test_biases_scalars_and_empty_matrices_are_restored_exactly(shape: tuple[int, ...]) -> None:
    weight = torch.randn(shape).half().float()
    np.testing.assert_array_equal(kept(weight)[0], weight.numpy())


def test_trained_weights_stay_float32() -> None:
    """Rounding fine-tuned weights would export a different model."""
    weight = torch.randn(8, 8) / 3
    got, types = kept(weight)
    assert types == {TensorProto.FLOAT}
    np.testing.assert_array_equal(got, weight.numpy())
    np.testing.assert_array_equal(kept(torch.tensor([1e9, 1.0]))[0], [1e9, 1.0])


# --- approximate weights, for int8 exports ------------------------------------------------------------


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1e4, 1e4, width=32),
    ),
    st.sampled_from([63, 127]),
)
def test_quantisation_errors_are_at_most_half_a_scale(array: np.ndarray, largest: int) -> None:
    found = quantize_rows(array, largest)
    assert np.abs(found.bytes).max() <= largest
    off = np.abs(found.bytes * found.scales[:, None].astype(np.float64) - array)
    assert (off <= found.scales[:, None] * 0.5001).all()


def test_zero_rows_stay_zero() -> None:
    found = quantize_rows(np.zeros((2, 3), dtype=np.float32))
    assert not (found.bytes * found.scales[:, None]).any()


@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.sampled_from([4, 8])),
        elements=st.floats(-1e4, 1e4, width=32) | st.just(np.float32(-1e30)),
    )
)
def test_the_error_of_a_block_is_at_most_that_of_the_largest_integer(array: np.ndarray) -> None:
    found = quantize_blocks(array, 4)
    near = found.bytes * found.scales.astype(np.float64)
    for row, number in np.ndindex(near.shape[:2]):
        block = array[row, 4 * number : 4 * number + 4].astype(np.float64)
        scale = max(float((np.abs(block).max() / 127).astype(found.scales.dtype)), 6e-8)
        plain = np.clip(np.rint(block / scale), -127, 127) * scale
        error, most = (np.square(each - block).sum() for each in (near[row, number], plain))
        assert error <= most * 1.001 + 1e-6 * np.abs(block).max() ** 2


def test_weights_that_were_rounded_to_four_bits_stay_exact() -> None:
    """Many models are distributed so; then int8 changes nothing."""
    random = np.random.default_rng(0)
    whole = random.integers(-8, 8, (5000, 2, 16))
    whole[:, :, 0] = -8  # the largest of each block
    array = (whole * random.uniform(0.01, 1, (5000, 2, 1)).astype(np.float16)).astype(np.float32)
    found = quantize_blocks(array.reshape(5000, 32), 16)
    near = found.bytes * found.scales.astype(np.float32)
    assert np.abs(near - array).max() <= 1e-3 * np.abs(array).max()
