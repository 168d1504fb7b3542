"""A small builder of ONNX graphs. Nodes are added in order, and each call returns the name of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from gonie.errors import GonieError
from gonie.export.ranges import Ranges
from gonie.version import __version__

OPSET = 18
IR_VERSION = 8  # for opset 18, supported by every onnxruntime since 1.14
LARGEST = 2**31 - 1  # the maximum size of a protobuf message in bytes

# The inputs of a graph: the arrays of gonie.features.batching, for texts those of gonie.features.text_corpus,
# and `spelled`, the output of the graph of forms for each distinct form.
INPUTS: dict[str, tuple[int, tuple[str, ...]]] = {
    "lengths": (TensorProto.INT64, ("B",)),
    "mask": (TensorProto.BOOL, ("B", "T")),
    "words": (TensorProto.INT64, ("B", "T")),
    "forms": (TensorProto.INT64, ("B", "T")),
    "chars": (TensorProto.INT64, ("U", "C")),
    "char_lengths": (TensorProto.INT64, ("U",)),
    "bytes": (TensorProto.INT64, ("U", "longest")),
    "spelled": (TensorProto.FLOAT, ("U", "vectors of forms")),
    "pieces": (TensorProto.INT64, ("W", "L")),
    "pieces_mask": (TensorProto.BOOL, ("W", "L")),
    "external": (TensorProto.FLOAT, ("B", "T", "external_width")),
    "places": (TensorProto.INT64, ("N", "S")),
    "places_mask": (TensorProto.BOOL, ("N", "S")),
}


class GraphOutput(NamedTuple):
    """An output of a graph: the value, the names or sizes of its axes, and its type."""

    value: str
    shape: tuple[str | int, ...]
    kind: int = TensorProto.FLOAT


@dataclass(frozen=True, kw_only=True)
class Recurrence:
    """A recurrent operator in ONNX layout: N directions of G gates of H units, over vectors of size D.

    ``of_input`` (N, G*H, D), ``of_states`` (N, G*H, H), ``bias`` (N, 2*G*H), ``peepholes`` (N, 3*H).
    ``output`` is the index of the operator's output to use.
    """

    op: str
    hidden: int
    of_input: Tensor
    of_states: Tensor
    bias: Tensor
    peepholes: Tensor | None
    output: int
    attributes: Mapping[str, Any]


class Graph:
    """Builds a graph with ``input``, ``weight`` and ``add``, which return names of values, and ``serialize``.

    ``linear`` and ``positions`` add nodes that many parts share. ``longest`` is the number of bytes per word
    in the batches for a language model, if there is one. ``ranges`` has the layers that use int8 products and
    the size of their values. ``rows`` and ``recurrence`` use most of the weights of a model; ``int8_graph``
    stores them as int8.

    Values that depend only on the form of a word are computed in a second graph, ``forms``. The runtime
    evaluates it once per form and caches the result. ``per_form`` makes its values available in this graph.
    """

    def __init__(self, *, longest: int = 0, ranges: Ranges | None = None) -> None:
        self.longest = longest
        self.ranges = ranges or {}
        self._forms: Graph | None = None
        self._spelled: list[tuple[str, int]] = []  # the outputs of the graph of forms, and their widths
        self._inputs: dict[str, onnx.ValueInfoProto] = {}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._numbers = count()

    def inner(self) -> Graph:
        """Return a graph for the body of a loop.

        It sees all values of this graph, and its constants are stored here.
        """
        inside = Graph(longest=self.longest)
        inside._weights, inside._numbers = self._weights, self._numbers
        return inside

    def body(self, arguments: Mapping[str, int], results: Sequence[str]) -> onnx.GraphProto:
        """Finish an inner graph with these arguments, by name and type, and these float32 results."""
        named = [self.add("Identity", result) for result in results]  # each needs its own node here
        given = [helper.make_tensor_value_info(name, kind, None) for name, kind in arguments.items()]
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in named]
        return helper.make_graph(self._nodes, "body", given, made)

    def input(self, name: str) -> str:
        """Declare an array of the batch as input, at its first use."""
        self._inputs.setdefault(name, helper.make_tensor_value_info(name, *INPUTS[name]))
        return name

    @property
    def forms(self) -> Graph:
        """The graph from the letters of U distinct forms to their values."""
        if self._forms is None:
            self._forms = self._new_graph()
        return self._forms

    def _new_graph(self) -> Graph:
        return Graph(longest=self.longest, ranges=self.ranges)

    def per_form(self, value: str, width: int) -> str:
        """Return a value (U, width) of the graph of forms in this graph."""
        start = sum(own for _, own in self._spelled)
        self._spelled.append((value, width))
        ends = (self.weight([start]), self.weight([start + width]), self.weight([1]))
        return self.add("Slice", self.input("spelled"), *ends)

    def serialize_forms(self) -> bytes | None:
        """Serialize the graph of forms, with output ``spelled`` (U, all widths). None if it is empty."""
        if not self._spelled:
            return None
        joined = self.forms.add("Concat", *(value for value, _ in self._spelled), axis=1)
        width = sum(own for _, own in self._spelled)
        return self.forms.serialize("forms", {"spelled": GraphOutput(joined, ("U", width))})

    def lengths(self, name: str) -> str:
        """Return lengths of the batch as int32, as recurrences need them."""
        return self.add("Cast", self.input(name), to=TensorProto.INT32)

    def features(self, group: str) -> tuple[str, str]:
        """Return the ids of a feature group and the flat position of each: (F,), (F,).

        The position is b * T + t for a feature of a token, n for an n-gram of a text.
        """
        return self._flat(f"{group}.ids", f"{group}.F"), self._flat(f"{group}.rows", f"{group}.F")

    def offsets(self, group: str) -> str:
        """Return the offsets of the n-grams of each text in a bag, including the end: (N + 1,)."""
        return self._flat(f"{group}.offsets", f"{group}.offsets")

    def _flat(self, name: str, size: str) -> str:
        self._inputs.setdefault(name, helper.make_tensor_value_info(name, TensorProto.INT64, [size]))
        return name

    def weight(self, values: Tensor | NDArray[Any] | list[int]) -> str:
        """Add a constant: trained weights, or integers such as shapes (int64)."""
        array = values.detach().float().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def add(self, op: str, *inputs: str, output: int = 0, **attributes: Any) -> str:
        """Add a node and return its output number ``output``. An input named "" is omitted."""
        name = f"{op}_{next(self._numbers)}"
        outputs = [""] * output + [name]
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attributes))
        return name

    def several(self, op: str, *inputs: str, results: int, **attributes: Any) -> list[str]:
        """Add a node and return all of its ``results`` outputs."""
        name = f"{op}_{next(self._numbers)}"
        outputs = [f"{name}_{number}" for number in range(results)]
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attributes))
        return outputs

    def rows(self, table: Tensor, ids: str) -> str:
        """Look up the rows of ``table`` (V, D) with these ids: (…) -> (…, D)."""
        return self.add("Gather", self.weight(table), ids, axis=0)

    def largest(self, layer: nn.Module) -> float | None:
        """Return the largest absolute input value of ``layer``, or None if it was not measured."""
        found = self.ranges.get(layer)
        return found.input if found else None

    def matrices(self, weights: Tensor) -> str:
        """Add a constant of several matrices (N, R, D)."""
        return self.weight(weights)

    def recurrence(self, x: str, lengths: str, part: Recurrence, *, largest: float | None = None) -> str:
        """Add a recurrent ONNX operator over x (T, B, D) and ``lengths`` (B,).

        ``largest`` is the largest absolute value in x, if measured.
        """
        given = [self.matrices(part.of_input), self.matrices(part.of_states), self.weight(part.bias), lengths]
        if part.peepholes is not None:  # after the two initial states, which are omitted
            given += ["", "", self.weight(part.peepholes)]
        return self.add(part.op, x, *given, output=part.output, **part.attributes)

    def linear(self, x: str, weight: Tensor, bias: Tensor) -> str:
        """Add W x + b with ``weight`` (H, D): (…, D) -> (…, H)."""
        return self.add("Add", self.add("MatMul", x, self.weight(weight.T)), self.weight(bias))

    def dense(self, x: str, layer: nn.Linear) -> str:
        """Add a large linear layer, W x + b: (…, D) -> (…, H)."""
        return self.linear(x, layer.weight, layer.bias)

    def _extra_opsets(self) -> list[onnx.OperatorSetIdProto]:
        names = sorted({node.domain for node in self._nodes} - {""})
        return [helper.make_opsetid(name, 1) for name in names]

    def positions(self, value: str, axis: int) -> str:
        """Return 0, 1, 2 … along one axis of ``value``."""
        size = self.add("Gather", self.add("Shape", value), self.weight(np.array(axis)))
        return self.add("Range", self.weight(np.array(0)), size, self.weight(np.array(1)))

    def serialize(
        self, name: str, results: Mapping[str, GraphOutput], facts: Mapping[str, str] | None = None
    ) -> bytes:
        """Return the checked and serialized model ``name`` with these outputs.

        ``facts`` are stored as metadata.
        """
        for result, (value, _, _) in results.items():
            self._nodes.append(helper.make_node("Identity", [value], [result], name=result))
        given = [
            helper.make_tensor_value_info(result, kind, list(shape))
            for result, (_, shape, kind) in results.items()
        ]
        body = helper.make_graph(self._nodes, name, list(self._inputs.values()), given, self._weights)
        model = helper.make_model(
            body,
            opset_imports=[helper.make_opsetid("", OPSET), *self._extra_opsets()],
            ir_version=IR_VERSION,
            producer_name="gonie",
            producer_version=__version__,
        )
        helper.set_model_props(model, dict(facts or {}))
        if model.ByteSize() > LARGEST:
            raise GonieError(
                f"the ONNX graph is larger than 2 GiB: {model.ByteSize() / 2**30:.1f} GiB. "
                "Train with fewer word vectors (data.vectors_limit) or features (data.min_feature_count)."
            )
        if not self._extra_opsets():  # the checker does not support other opsets
            onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
