"""A small writer of ONNX graphs: nodes are added in order, each by one call that names its result."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

from gonie.errors import GonieError
from gonie.version import __version__

OPSET = 18
IR_VERSION = 8  # the one of opset 18, which every onnxruntime since 1.14 reads
OUTPUT = "scores"
LARGEST = 2**31 - 1  # bytes that a protobuf message may have

# What a graph may ask of a batch, as gonie.data.batching describes it.
INPUTS: dict[str, tuple[int, tuple[str, ...]]] = {
    "lengths": (TensorProto.INT64, ("B",)),
    "mask": (TensorProto.BOOL, ("B", "T")),
    "words": (TensorProto.INT64, ("B", "T")),
    "forms": (TensorProto.INT64, ("B", "T")),
    "chars": (TensorProto.INT64, ("U", "C")),
    "char_lengths": (TensorProto.INT64, ("U",)),
}


class Graph:
    """Grows by ``input``, ``weight`` and ``add``, which return the names of values; ``serialize`` ends it."""

    def __init__(self) -> None:
        self._inputs: dict[str, onnx.ValueInfoProto] = {}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def input(self, name: str) -> str:
        """An array of the batch, declared at its first use."""
        self._inputs.setdefault(name, helper.make_tensor_value_info(name, *INPUTS[name]))
        return name

    def lengths(self, name: str) -> str:
        """Lengths of the batch as recurrences take them, int32."""
        return self.add("Cast", self.input(name), to=TensorProto.INT32)

    def features(self, group: str) -> tuple[str, str]:
        """Ids of a feature group and the flat position b * T + t of each: (F,), (F,)."""
        names = f"{group}.ids", f"{group}.rows"
        for name in names:
            value = helper.make_tensor_value_info(name, TensorProto.INT64, [f"{group}.F"])
            self._inputs.setdefault(name, value)
        return names

    def weight(self, values: Tensor | NDArray[Any] | list[int]) -> str:
        """A constant of the graph: trained weights, or whole numbers such as shapes (as int64)."""
        array = values.detach().float().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, op: str, *inputs: str, output: int = 0, **attributes: Any) -> str:
        """A node; returns its result number ``output``. An input named "" is left out."""
        name = f"{op}_{len(self._nodes)}"
        outputs = [""] * output + [name]
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attributes))
        return name

    def serialize(self, scores: str, num_tags: int) -> bytes:
        """The checked model whose result is the value ``scores`` (B, T, K), in ONNX's own bytes."""
        self._nodes.append(helper.make_node("Identity", [scores], [OUTPUT], name=OUTPUT))
        result = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["B", "T", num_tags])
        body = helper.make_graph(self._nodes, "tagger", list(self._inputs.values()), [result], self._weights)
        model = helper.make_model(
            body,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="gonie",
            producer_version=__version__,
        )
        if model.ByteSize() > LARGEST:
            raise GonieError(
                f"expected a model of at most 2 GiB, got {model.ByteSize() / 2**30:.1f} GiB. "
                "Train with fewer word vectors (data.vectors_limit) or features (data.min_feature_count)."
            )
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
