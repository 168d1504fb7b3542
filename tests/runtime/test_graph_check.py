"""Tests the check of untrusted graphs: gonie's graphs pass, and hostile ones are refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from gonie.runtime import graph_check
from gonie.runtime.graph_check import check_graph

GRAPHS = sorted((Path(__file__).parent.parent / "bundles").glob("*/*/*.onnx"))


def model(*nodes: onnx.NodeProto, weights: tuple[TensorProto, ...] = (), domain: str = "") -> onnx.ModelProto:
    nodes = nodes or (helper.make_node("Identity", ["x"], ["y"]),)
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["B"])],
        list(weights),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, 18)], ir_version=8)


def refused(made: onnx.ModelProto, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_graph(made.SerializeToString())


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: "/".join(path.parts[-3:]))
def test_graphs_written_by_gonie_pass(path: Path) -> None:
    check_graph(path.read_bytes())


def test_a_tensor_in_another_file_is_refused() -> None:
    """A known attack: the graph makes the reader open /etc/passwd, or any other file, as weights."""
    weight = numpy_helper.from_array(np.zeros(3, np.float32), "w")
    weight.data_location = TensorProto.EXTERNAL
    refused(model(weights=(weight,)), "tensor stored in another file")
    weight = numpy_helper.from_array(np.zeros(3, np.float32), "w")
    weight.external_data.add(key="location", value="../../etc/passwd")
    refused(model(weights=(weight,)), "tensor stored in another file")


@pytest.mark.parametrize("op", ["Loop", "If", "RandomNormal", "Tile", "Nonsense", "Constant", ""])
def test_operators_that_gonie_does_not_write_are_refused(op: str) -> None:
    refused(model(helper.make_node(op, ["x"], ["y"])), f"unsupported operator '{op}'")


def test_other_domains_are_refused() -> None:
    refused(
        model(helper.make_node("Add", ["x", "x"], ["y"], domain="evil")), "unsupported operator domain 'evil'"
    )
    refused(model(domain="evil"), "unsupported operator domain 'evil'")
    refused(
        model(helper.make_node("Add", ["x", "x"], ["y"], domain="com.microsoft")),
        "unsupported operator 'Add'",
    )
    check_graph(model(domain="ai.onnx").SerializeToString())


def test_fields_that_gonie_never_writes_are_refused() -> None:
    made = model()
    made.functions.add(name="f", domain="g")
    refused(made, "model with unknown field 25")
    made = model()
    made.graph.sparse_initializer.add()
    refused(made, "graph with unknown field 15")


def inside(node: onnx.NodeProto, levels: int) -> onnx.NodeProto:
    """Return the node within the bodies of nested loops."""
    for _ in range(levels):
        body = helper.make_graph([node], "body", [], [])
        node = helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)
    return node


def test_subgraphs_are_checked() -> None:
    evil = helper.make_node("Evil", ["x"], ["y"])
    refused(model(inside(evil, 1)), "unsupported operator 'Evil'")
    refused(model(inside(evil, 3)), "unsupported operator 'Evil'")
    plain = helper.make_node("Identity", ["x"], ["y"])
    check_graph(model(inside(plain, 3)).SerializeToString())
    refused(model(inside(plain, graph_check.DEPTH + 1)), "nested more than")
    weight = numpy_helper.from_array(np.zeros(3, np.float32), "w")
    weight.data_location = TensorProto.EXTERNAL
    body = helper.make_graph([plain], "body", [], [], [weight])
    scan = helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)
    refused(model(scan), "another file")


def test_deeply_nested_messages_do_not_overflow_the_stack() -> None:
    """A recursive reader would fail on 20 KB of nested messages."""
    content = b""
    for _ in range(3000):
        for field in (6, 5, 1):  # a graph in an attribute in a node in a graph
            content = bytes([field << 3 | 2]) + _varint(len(content)) + content
    with pytest.raises(ValueError, match=r"nested more than|unsupported operator"):
        check_graph(b"\x3a" + _varint(len(content)) + content)


def _varint(whole: int) -> bytes:
    made = bytearray()
    while whole > 127:
        made.append(whole & 127 | 128)
        whole >>= 7
    return bytes([*made, whole])


@pytest.mark.parametrize("dims", [[4], [2], [3, 0], [-3], [2**62], [2**32, 2**32], [3, 1, 2], [3, *[1] * 16]])
def test_a_shape_that_does_not_fit_its_bytes_is_refused(dims: list[int]) -> None:
    weight = numpy_helper.from_array(np.zeros(3, np.float32), "w")
    del weight.dims[:]
    weight.dims.extend(dims)
    refused(model(weights=(weight,)), "tensor whose bytes do not fit its shape")


def test_duplicate_or_incomplete_tensor_data_is_refused() -> None:
    twice = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    twice.raw_data = b"\0" * 4
    refused(model(weights=(twice,)), "tensor whose bytes do not fit its shape")
    half = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], raw_data=b"\0" * 5)
    refused(model(weights=(half,)), "tensor whose bytes do not fit its shape")


@pytest.mark.parametrize("kind", [TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.UNDEFINED, 99])
def test_unsupported_tensor_types_are_refused(kind: int) -> None:
    refused(model(weights=(TensorProto(name="w", data_type=kind, dims=[0]),)), "tensor of unsupported type")


NUMBERS = {
    TensorProto.FLOAT: np.float32,
    TensorProto.INT64: np.int64,
    TensorProto.INT32: np.int32,
    TensorProto.INT8: np.int8,
    TensorProto.UINT8: np.uint8,
    TensorProto.BOOL: np.bool_,
    TensorProto.FLOAT16: np.float16,
    TensorProto.DOUBLE: np.float64,
}


@settings(deadline=None)
@given(st.sampled_from(sorted(NUMBERS)), st.lists(st.integers(0, 4), max_size=3), st.booleans())
def test_valid_tensors_pass_as_raw_or_typed_data(kind: int, dims: list[int], raw: bool) -> None:
    values = np.arange(np.prod(dims, dtype=int)).reshape(dims).astype(NUMBERS[kind]) % 2
    if raw:
        tensor = numpy_helper.from_array(values.astype(NUMBERS[kind]), "w")
    else:
        tensor = helper.make_tensor("w", kind, dims, values.ravel().tolist())
    check_graph(model(weights=(tensor,)).SerializeToString())


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("size", [2**17, 2**30, 2**62, -(2**40)])
def test_a_constant_that_would_use_huge_memory_is_refused(size: int, raw: bool) -> None:
    values = np.array([1, size])
    made = helper.make_tensor("size", TensorProto.INT64, [2], values.tolist())
    constant = numpy_helper.from_array(values, "size") if raw else made
    node = helper.make_node("Expand", ["x", "size"], ["y"])
    refused(model(node, weights=(constant,)), "constant too large|is larger than")


def test_sizes_with_a_huge_product_are_refused() -> None:
    node = helper.make_node("Expand", ["x", "size"], ["y"])
    for sizes, fits in (([4096, 4096], True), ([60_000, 60_000], False), ([1, 300, 300, 300], False)):
        made = model(node, weights=(numpy_helper.from_array(np.array(sizes), "size"),))
        if fits:
            check_graph(made.SerializeToString())
        else:
            refused(made, "constant too large")


def test_a_slice_may_go_to_the_end() -> None:
    ends = numpy_helper.from_array(np.array([2**63 - 1]), "end")
    zero = numpy_helper.from_array(np.array([0]), "zero")
    node = helper.make_node("Slice", ["x", "zero", "end"], ["y"])
    check_graph(model(node, weights=(ends, zero)).SerializeToString())


def test_a_huge_attribute_is_refused() -> None:
    node = helper.make_node("LSTM", ["x"], ["y"], hidden_size=2**40)
    refused(model(node), "is larger than")
    refused(model(helper.make_node("Conv", ["x", "x"], ["y"], pads=[0, 2**30])), "is larger than")


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(*[helper.make_node("Identity", ["x"], ["y"])] * 12)
    check_graph(made.SerializeToString())
    monkeypatch.setattr(graph_check, "NODES", 10)
    refused(made, "more than 10 nodes")
    monkeypatch.setattr(graph_check, "FIELDS", 10)
    refused(made, "too many values of field")


FLIPPED: list[Callable[[Any, bytes], bytes]] = [
    lambda draw, content: content[: draw(st.integers(0, len(content)))],
    lambda draw, content: _flip(content, draw(st.integers(0, 8 * len(content) - 1))),
]


def _flip(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@settings(deadline=None, max_examples=200)
@given(st.data(), st.sampled_from(GRAPHS), st.sampled_from(FLIPPED))
def test_damaged_graphs_raise_only_value_errors(
    data: st.DataObject, path: Path, damage: Callable[[Any, bytes], bytes]
) -> None:
    with suppress(ValueError):
        check_graph(damage(data.draw, path.read_bytes()))
