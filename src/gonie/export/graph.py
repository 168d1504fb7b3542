"""A small writer of ONNX graphs: nodes are added in order, each by one call that names its result."""

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
IR_VERSION = 8  # the one of opset 18, which every onnxruntime since 1.14 reads
LARGEST = 2**31 - 1  # bytes that a protobuf message may have

# What a graph may read of a batch: the arrays of gonie.features.batching, for texts those of
# gonie.features.text_corpus, and `spelled`, the output of the graph of forms for each distinct form.
INPUTS: dict[str, tuple[int, tuple[str, ...]]] = {
    "lengths": (TensorProto.INT64, ("B",)),
    "mask": (TensorProto.BOOL, ("B", "T")),
    "words": (TensorProto.INT64, ("B", "T")),
    "forms": (TensorProto.INT64, ("B", "T")),
    "chars": (TensorProto.INT64, ("U", "C")),
    "char_lengths": (TensorProto.INT64, ("U",)),
    "bytes": (TensorProto.INT64, ("U", "longest")),
    "spelled": (TensorProto.FLOAT, ("U", "vectors of forms")),
    "places": (TensorProto.INT64, ("N", "S")),
    "places_mask": (TensorProto.BOOL, ("N", "S")),
}


class GraphOutput(NamedTuple):
    """What a graph gives under one name: the value, the names or sizes of its axes, and its type."""

    value: str
    shape: tuple[str | int, ...]
    kind: int = TensorProto.FLOAT


@dataclass(frozen=True, kw_only=True)
class Recurrence:
    """A recurrent operator as ONNX has it: N ways of G gates of H units, over vectors of D.

    ``of_input`` (N, G*H, D), ``of_states`` (N, G*H, H), ``bias`` (N, 2*G*H), ``peepholes`` (N, 3*H); its
    result number ``output``; its ``attributes``.
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
    """Grows by ``input``, ``weight`` and ``add``, which return the names of values; ``serialize`` ends it.

    ``linear`` and ``positions`` add the few nodes that many parts have in common. ``longest`` is how many
    bytes of a word the batches bring for a language model, where there is one; ``ranges`` has the layers
    whose products are to be of bytes, and how large their numbers are.

    ``rows`` and ``recurrence`` write what most of a model's weights are for; ``byte_graph`` keeps
    them as bytes.

    What depends on a word's form alone is written into another graph, ``forms``, which the runtime asks once
    for each form and remembers: ``per_form`` brings it over.
    """

    def __init__(self, *, longest: int = 0, ranges: Ranges | None = None) -> None:
        self.longest = longest
        self.ranges = ranges or {}
        self._forms: Graph | None = None
        self._spelled: list[tuple[str, int]] = []  # of the graph of forms: its values, and their widths
        self._inputs: dict[str, onnx.ValueInfoProto] = {}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._numbers = count()

    def inner(self) -> Graph:
        """A graph for the body of a loop in this one: it sees all values here, and its constants lie here."""
        inside = Graph(longest=self.longest)
        inside._weights, inside._numbers = self._weights, self._numbers
        return inside

    def body(self, arguments: Mapping[str, int], results: Sequence[str]) -> onnx.GraphProto:
        """An inner graph, done: from values that it is given, by name and type, to others, float32."""
        named = [self.add("Identity", result) for result in results]  # each its own, and made in here
        given = [helper.make_tensor_value_info(name, kind, None) for name, kind in arguments.items()]
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in named]
        return helper.make_graph(self._nodes, "body", given, made)

    def input(self, name: str) -> str:
        """An array of the batch, declared at its first use."""
        self._inputs.setdefault(name, helper.make_tensor_value_info(name, *INPUTS[name]))
        return name

    @property
    def forms(self) -> Graph:
        """The graph from the letters of U distinct forms to what is known of each."""
        if self._forms is None:
            self._forms = self._another()
        return self._forms

    def _another(self) -> Graph:
        return Graph(longest=self.longest, ranges=self.ranges)

    def per_form(self, value: str, width: int) -> str:
        """A value (U, width) of the graph of forms, in this one."""
        start = sum(own for _, own in self._spelled)
        self._spelled.append((value, width))
        ends = (self.weight([start]), self.weight([start + width]), self.weight([1]))
        return self.add("Slice", self.input("spelled"), *ends)

    def serialize_forms(self) -> bytes | None:
        """The graph of forms, which gives ``spelled`` (U, all widths); None where nothing is in it."""
        if not self._spelled:
            return None
        joined = self.forms.add("Concat", *(value for value, _ in self._spelled), axis=1)
        width = sum(own for _, own in self._spelled)
        return self.forms.serialize("forms", {"spelled": GraphOutput(joined, ("U", width))})

    def lengths(self, name: str) -> str:
        """Lengths of the batch as recurrences take them, int32."""
        return self.add("Cast", self.input(name), to=TensorProto.INT32)

    def features(self, group: str) -> tuple[str, str]:
        """Ids of a group of features and the flat position of each: (F,), (F,).

        The position is b * T + t for a feature of a token, n for an n-gram of a text.
        """
        return self._flat(f"{group}.ids", f"{group}.F"), self._flat(f"{group}.rows", f"{group}.F")

    def offsets(self, group: str) -> str:
        """Where the ids of each text begin in a bag of n-grams, and where they end: (N + 1,)."""
        return self._flat(f"{group}.offsets", f"{group}.offsets")

    def _flat(self, name: str, size: str) -> str:
        self._inputs.setdefault(name, helper.make_tensor_value_info(name, TensorProto.INT64, [size]))
        return name

    def weight(self, values: Tensor | NDArray[Any] | list[int]) -> str:
        """A constant of the graph: trained weights, or whole numbers such as shapes (as int64)."""
        array = values.detach().float().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def add(self, op: str, *inputs: str, output: int = 0, **attributes: Any) -> str:
        """A node; returns its result number ``output``. An input named "" is left out."""
        name = f"{op}_{next(self._numbers)}"
        outputs = [""] * output + [name]
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attributes))
        return name

    def several(self, op: str, *inputs: str, results: int, **attributes: Any) -> list[str]:
        """A node with so many results, all of them."""
        name = f"{op}_{next(self._numbers)}"
        outputs = [f"{name}_{number}" for number in range(results)]
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attributes))
        return outputs

    def rows(self, table: Tensor, ids: str) -> str:
        """The rows of ``table`` (V, D) with these ids: (…) -> (…, D)."""
        return self.add("Gather", self.weight(table), ids, axis=0)

    def largest(self, layer: nn.Module) -> float | None:
        """The largest number, without its sign, that ``layer`` was given, where that was measured."""
        found = self.ranges.get(layer)
        return found.input if found else None

    def matrices(self, weights: Tensor) -> str:
        """A constant of several matrices (N, R, D)."""
        return self.weight(weights)

    def recurrence(self, x: str, lengths: str, part: Recurrence, *, largest: float | None = None) -> str:
        """ONNX's operator over x (T, B, D) and ``lengths`` (B,).

        ``largest`` is the largest number of x, without its sign, where that was measured.
        """
        given = [self.matrices(part.of_input), self.matrices(part.of_states), self.weight(part.bias), lengths]
        if part.peepholes is not None:  # after the two initial states, which are left out
            given += ["", "", self.weight(part.peepholes)]
        return self.add(part.op, x, *given, output=part.output, **part.attributes)

    def linear(self, x: str, weight: Tensor, bias: Tensor) -> str:
        """W x + b of whatever has the last axis of ``weight`` (H, D): (…, D) -> (…, H)."""
        return self.add("Add", self.add("MatMul", x, self.weight(weight.T)), self.weight(bias))

    def _further_opsets(self) -> list[onnx.OperatorSetIdProto]:
        names = sorted({node.domain for node in self._nodes} - {""})
        return [helper.make_opsetid(name, 1) for name in names]

    def positions(self, value: str, axis: int) -> str:
        """0, 1, 2 … along one axis of ``value``."""
        size = self.add("Gather", self.add("Shape", value), self.weight(np.array(axis)))
        return self.add("Range", self.weight(np.array(0)), size, self.weight(np.array(1)))

    def serialize(
        self, name: str, results: Mapping[str, GraphOutput], facts: Mapping[str, str] | None = None
    ) -> bytes:
        """The checked model called ``name`` that gives these results, in ONNX's own bytes.

        ``facts`` are for whoever runs it, by name.
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
            opset_imports=[helper.make_opsetid("", OPSET), *self._further_opsets()],
            ir_version=IR_VERSION,
            producer_name="gonie",
            producer_version=__version__,
        )
        helper.set_model_props(model, dict(facts or {}))
        if model.ByteSize() > LARGEST:
            raise GonieError(
                f"expected a model of at most 2 GiB, got {model.ByteSize() / 2**30:.1f} GiB. "
                "Train with fewer word vectors (data.vectors_limit) or features (data.min_feature_count)."
            )
        if not self._further_opsets():  # which the checker does not know
            onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
