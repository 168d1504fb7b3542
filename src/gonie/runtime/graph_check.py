"""Check an untrusted ONNX graph before onnxruntime loads it.

The check refuses, in the graph and in its subgraphs:

    external data     tensors stored outside the graph, so that no other file is ever opened
    other operators   all that gonie does not write: custom operators, functions, unbounded loops
    invalid tensors   with more or fewer bytes than their shape needs, or of an unsupported type
    huge sizes        integers that shapes are computed from and that only an attack on memory would use
    unusual graphs    with too many nodes, nested too deep, or with fields that gonie never writes

A graph that passes can still be invalid, which onnxruntime reports. It can return other results than its
author claims. It can also compute a size in several steps and so use much memory and time. To run untrusted
bundles, limit memory and time from outside, as for any other program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from gonie.runtime.protobuf import Field, fields, signed, varints

_PLAIN = """
    Abs Add And ArgMax Cast Clip Concat ConstantOfShape Conv DequantizeLinear Div DynamicQuantizeLinear Equal
    Erf Exp Expand Flatten GRU Gather GatherElements GatherND Gelu Gemm Greater Identity LSTM
    LayerNormalization Less Log LogSoftmax MatMul MatMulInteger Max Mean Min Mul Neg Not Or Pad Pow
    QuantizeLinear RNN Range Reciprocal ReduceMax ReduceMean ReduceMin ReduceSum Relu Reshape ReverseSequence
    Scan ScatterElements ScatterND Shape Sigmoid Sign Size Slice Softmax Split Sqrt Squeeze Sub Sum Tanh
    Transpose Unsqueeze Where
"""
OPERATORS: Mapping[str, frozenset[str]] = {
    "": frozenset(_PLAIN.split()),
    "com.microsoft": frozenset(("DynamicQuantizeLSTM", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")),
}
"""Allowed operators by domain. Every export is run before it is written, so a missing one is noticed."""

FIELDS, NODES, DEPTH = 1 << 20, 1 << 14, 4
LARGEST = 1 << 24  # maximum of integers that are slice positions or table lengths
WIDEST = 1 << 16  # maximum size of an axis; the product of all axes is at most LARGEST
LONGEST = 1 << 12  # maximum bytes of a list of sizes
AXES = 16  # maximum axes of a tensor
FEW = 64  # integer tensors with more elements are lookup tables and never define sizes
TO_THE_END = (2**31 - 1, 2**63 - 1, -(2**63))  # integers by which a slice means "to the end"
SIZING = {"Concat", "ConstantOfShape", "Expand", "Pad", "Range", "Reshape"}  # operators that take sizes
_BYTES = {1: 4, 2: 1, 3: 1, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8}  # bytes per number by TensorProto.DataType
_INT32, _INT64 = 6, 7


class Slot(NamedTuple):
    """A permitted field: the type of the message in it, if any, and whether it may be repeated."""

    inside: str = ""
    again: bool = False


_ONE, _MANY = Slot(), Slot(again=True)
MESSAGES: Mapping[str, Mapping[int, Slot]] = {
    "model": {
        **dict.fromkeys((1, 2, 3, 4, 5, 6), _ONE),
        7: Slot("graph"),
        8: Slot("operator set", again=True),
        14: _MANY,
    },
    "operator set": {1: _ONE, 2: _ONE},
    "graph": {
        1: Slot("node", again=True),
        **dict.fromkeys((2, 10), _ONE),
        5: Slot("tensor", again=True),
        **dict.fromkeys((11, 12, 13, 16), _MANY),
    },
    "node": {
        **dict.fromkeys((1, 2, 9), _MANY),
        **dict.fromkeys((3, 4, 6, 7), _ONE),
        5: Slot("attribute", again=True),
    },
    "attribute": {
        **dict.fromkeys((1, 2, 3, 4, 13, 20), _ONE),
        5: Slot("tensor"),
        6: Slot("graph"),
        **dict.fromkeys((7, 8, 9), _MANY),
    },
    "tensor": {**dict.fromkeys((1, 4, 5, 7, 10, 16), _MANY), **dict.fromkeys((2, 8, 9, 12), _ONE)},
}
"""The fields of ONNX messages that gonie writes, or that do not affect the computation."""


def check_graph(content: bytes) -> None:
    """Raise ``ValueError`` if the graph contains anything that the module docstring lists."""
    seen = _Seen()
    todo = [("model", memoryview(content), 0)]
    while todo:
        kind, message, depth = todo.pop()
        found = _known(kind, message, seen)
        if kind == "tensor":
            seen.tensor(found)
        elif kind == "node":
            seen.node(found)
        elif kind == "attribute":
            seen.attribute(found)
        elif kind == "operator set":
            _domain(_text(found, 1))
        deeper = depth + (kind == "attribute")
        if deeper > DEPTH:
            raise ValueError(f"graphs nested more than {DEPTH} levels deep")
        todo += [(MESSAGES[kind][n].inside, _bytes(v), deeper) for n, v in found if MESSAGES[kind][n].inside]
    seen.finish()


class _Seen:
    """Collects counts and sizes while the messages are read, and checks them at the end."""

    def __init__(self) -> None:
        self.fields = 0
        self._nodes = 0
        self._largest: Counter[str] = Counter()  # the largest integer of each small constant
        self._volume: Counter[str] = Counter()  # the product of the integers of each small constant
        self._sized: set[str] = set()  # values from which operators take sizes

    def node(self, found: list[Field]) -> None:
        self._nodes += 1
        if self._nodes > NODES:
            raise ValueError(f"more than {NODES:,} nodes")
        domain, op = _text(found, 7), _text(found, 4)
        if op not in OPERATORS[_domain(domain)]:
            raise ValueError(f"unsupported operator {op[:40]!r}")
        if op in SIZING:
            self._sized.update(_decoded(_bytes(value)) for number, value in found if number == 1)

    def attribute(self, found: list[Field]) -> None:
        for number, value in found:
            if number in (3, 8):
                _largest(_read_integers(value))

    def tensor(self, found: list[Field]) -> None:
        """Check that the bytes fit the shape. Record small integer tensors, as they may define sizes."""
        dims = [integer for number, value in found if number == 1 for integer in _read_integers(value)]
        type_ = next((value for number, value in found if number == 2), 0)
        size = _BYTES.get(type_) if isinstance(type_, int) else None
        if size is None:
            raise ValueError(f"tensor of unsupported type {type_}")
        if len(dims) > AXES or min(dims, default=0) < 0 or _stored(found, size) != prod(dims):
            raise ValueError(f"tensor whose bytes do not fit its shape {dims[:8]}")
        if type_ in (_INT32, _INT64) and prod(dims) <= FEW:
            name, integers = _text(found, 8), _integers(found, size)
            self._largest[name] = max(self._largest[name], _largest(integers))
            self._volume[name] = max(self._volume[name], prod(abs(integer) or 1 for integer in integers))

    def finish(self) -> None:
        for name in self._sized:
            if self._largest[name] > WIDEST or self._volume[name] > LARGEST:
                raise ValueError(f"constant too large: {self._volume[name]:,} numbers")


def _known(kind: str, message: memoryview, seen: _Seen) -> list[Field]:
    """Return the fields of a message. Refuse unknown fields and repeated fields that must be single."""
    found, slots = [], MESSAGES[kind]
    given: set[int] = set()
    for field in fields(message):
        slot = slots.get(field.number)
        seen.fields += 1
        if slot is None:
            external = kind == "tensor" and field.number in (13, 14)
            raise ValueError(
                "tensor stored in another file" if external else f"{kind} with unknown field {field.number}"
            )
        if (field.number in given and not slot.again) or seen.fields > FIELDS:
            raise ValueError(f"{kind} with too many values of field {field.number}")
        given.add(field.number)
        found.append(field)
    return found


def _domain(name: str) -> str:
    """Return the domain of an operator as a key of ``OPERATORS``."""
    name = "" if name == "ai.onnx" else name
    if name not in OPERATORS:
        raise ValueError(f"unsupported operator domain {name[:40]!r}")
    return name


def _largest(integers: list[int]) -> int:
    """Return the largest absolute value of integers, except those that mean "to the end" in a slice."""
    sizes = [abs(integer) for integer in integers if integer not in TO_THE_END]
    if max(sizes, default=0) > LARGEST:
        raise ValueError(f"size {max(sizes):,} is larger than {LARGEST:,}")
    return max(sizes, default=0)


def _stored(found: list[Field], size: int) -> int:
    """Return how many numbers of ``size`` bytes a tensor holds, or -1 if it is malformed.

    It is malformed if it has both raw and typed data, or a fraction of a number.
    """
    raw = [len(_bytes(value)) for number, value in found if number == 9]
    own = {number for number, _ in found if number in (4, 5, 7, 10)}
    if len(raw) + len(own) > 1 or any(length % size for length in raw):
        return -1
    return sum(length // size for length in raw) + sum(_count(n, value) for n, value in found if n in own)


def _count(number: int, value: int | memoryview) -> int:
    """Return how many numbers a field of typed data has: of 4 or 8 bytes each, or varints."""
    if isinstance(value, int):
        return 1
    if size := {4: 4, 10: 8}.get(number):
        if len(value) % size:
            raise ValueError("tensor with a truncated number")
        return len(value) // size
    return int(np.count_nonzero(np.frombuffer(value, dtype=np.uint8) < 128))


def _integers(found: list[Field], size: int) -> list[int]:
    raw = next((_bytes(value) for number, value in found if number == 9), None)
    if raw is not None:
        return [int(integer) for integer in np.frombuffer(raw, dtype=f"<i{size}")]
    return [integer for number, value in found if number in (5, 7) for integer in _read_integers(value)]


def _read_integers(value: int | memoryview) -> list[int]:
    """Return the integers of a field, single or packed."""
    if isinstance(value, int):
        return [signed(value)]
    if len(value) > LONGEST:
        raise ValueError(f"list of sizes with {len(value):,} bytes")
    return [signed(integer) for integer in varints(value)]


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("integer in place of a message or text")
    return value


def _text(found: list[Field], wanted: int) -> str:
    return next((_decoded(_bytes(value)) for number, value in found if number == wanted), "")


def _decoded(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")
