"""Tests the ONNX scorer: the inputs of the graph, and the error messages for invalid graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from gonie.errors import BundleError
from gonie.runtime.session import OnnxScorer, check_shape, feed


def tiny_graph() -> bytes:
    """Return a graph from words (B, T) to the ids as floats (B, T, 1)."""
    nodes = [
        helper.make_node("Cast", ["words"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["floats", "axis"], ["scores"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("words", TensorProto.INT64, ["B", "T"])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["B", "T", 1])],
        [helper.make_tensor("axis", TensorProto.INT64, [1], [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return bytes(model.SerializeToString())


def test_a_file_and_its_bytes_give_the_same_scores(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(tiny_graph())
    batch = {"words": np.array([[3, 4]]), "mask": np.ones((1, 2), bool), "never asked for": np.zeros(1)}
    for model in (tmp_path / "model.onnx", tiny_graph()):
        scorer = OnnxScorer(model, threads=1)
        assert scorer.inputs == ("words",)
        assert scorer.scores(batch).tolist() == [[[3.0], [4.0]]]


def test_any_output_can_be_requested_by_name() -> None:
    (found,) = OnnxScorer(tiny_graph()).outputs({"words": np.array([[3, 4]])}, ["scores"])
    assert found.tolist() == [[[3.0], [4.0]]]
    with pytest.raises(BundleError, match="the graph does not fit the encoding of its bundle"):
        OnnxScorer(tiny_graph()).outputs({"words": np.array([[3, 4]])}, ["shares"])


def test_a_graph_that_does_not_fit_the_encoding_is_refused() -> None:
    """A bundle made from two models must give an error message, not a traceback."""
    with pytest.raises(BundleError, match=r"the graph does not fit .*: KeyError: 'words'"):
        OnnxScorer(tiny_graph()).scores({"lengths": np.array([1])})
    with pytest.raises(BundleError, match="the graph does not fit the encoding of its bundle"):
        OnnxScorer(tiny_graph()).scores({"words": np.zeros((1, 1), np.float32)})


def test_scores_of_another_shape_are_refused() -> None:
    """Later code expects a column per label. A wrong graph must not cause a traceback there."""
    batch = {"words": np.array([[3, 4]]), "mask": np.ones((1, 2), bool)}
    assert OnnxScorer(tiny_graph(), labels=1).scores(batch).shape == (1, 2, 1)
    with pytest.raises(BundleError, match=r"float32 of shape \(1, 2, 3\) from the graph, got \(1, 2, 1\)"):
        OnnxScorer(tiny_graph(), labels=3).scores(batch)
    with pytest.raises(BundleError, match=r"float32 of shape \(1, 5, None\)"):
        OnnxScorer(tiny_graph()).scores({**batch, "mask": np.ones((1, 5), bool)})
    for other in (np.zeros((1, 2), np.float64), [1.0, 2.0]):
        with pytest.raises(BundleError, match=r"got ndarray|got list"):
            check_shape(other, (1, 2))


def test_an_invalid_graph_is_refused_without_other_output(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed besides the error, not even by onnxruntime."""
    model = onnx.load_from_string(tiny_graph())
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    with pytest.raises(BundleError, match="tensor stored in another file"):
        OnnxScorer(model.SerializeToString())
    model = onnx.load_from_string(tiny_graph())
    model.graph.node[1].input[0] = "nowhere"
    with pytest.raises(BundleError, match="cannot load the ONNX graph"):
        OnnxScorer(model.SerializeToString())
    assert capfd.readouterr() == ("", "")


def test_rows_give_the_position_of_each_feature() -> None:
    batch = {"context.ids": np.arange(4), "context.offsets": np.array([0, 2, 2, 3, 4])}
    assert feed(batch, "context.rows").tolist() == [0, 0, 2, 3]
    assert feed({"context.offsets": np.zeros(5, np.int64)}, "context.rows").tolist() == []


@pytest.mark.parametrize("content", [b"", b"not a graph", tiny_graph()[:-20]])
def test_a_file_that_is_not_a_graph_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(BundleError, match=r"cannot load the ONNX graph of .* with onnxruntime"):
        OnnxScorer(tmp_path / "model.onnx")
    with pytest.raises(BundleError, match="Export the model again"):
        OnnxScorer(content)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"nothing\.onnx"):
        OnnxScorer(tmp_path / "nothing.onnx")
