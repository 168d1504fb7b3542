"""What a stranger's ONNX graph may hold, looked at before onnxruntime sees it.

Refused are

    other files       tensors that lie outside the graph: nothing but the bundle's own files is ever opened
    other operators   all but those that gonie writes; so no custom ones, no functions, no loop without an end
    false tensors     whose bytes are more or fewer than their shape says, or of a type that no model has
    absurd sizes      whole numbers that only an attack on memory asks for, where shapes are made of them
    absurd graphs     of too many nodes, nested too deep, or with fields that gonie never writes

in the graph and in the graphs inside it. What is left can still be wrong, and onnxruntime says so; it can
give other answers than its author claims; and as it may come to a size by several steps, it can still ask for
much memory and time. Whoever runs bundles of people they do not trust should bound both from outside, as they
would for any other program.
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
"""By their domain. Every export is run before it is written, so one that is missing here is soon noticed."""

FIELDS, NODES, DEPTH = 1 << 20, 1 << 14, 4
LARGEST = 1 << 24  # of the few whole numbers that say where to cut, or how long a table is
WIDEST = 1 << 16  # of those that become the size of an axis; all axes together have LARGEST numbers
LONGEST = 1 << 12  # bytes of a list of sizes
AXES = 16  # of a tensor
FEW = 64  # whole numbers: more are a table, of which nothing is made but rows
TO_THE_END = (2**31 - 1, 2**63 - 1, -(2**63))  # what a slice may say
SIZING = {"Concat", "ConstantOfShape", "Expand", "Pad", "Range", "Reshape"}  # operators that take sizes
_BYTES = {1: 4, 2: 1, 3: 1, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8}  # of a number, by TensorProto.DataType
_INT32, _INT64 = 6, 7


class Slot(NamedTuple):
    """A field that a message may have: the message in it, if one is, and whether it may come again."""

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
"""The fields of ONNX's messages that gonie writes, or that mean nothing to the computation."""


def check_graph(content: bytes) -> None:
    """Refuse, with a ``ValueError``, what the module says."""
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
            raise ValueError(f"graphs nested more than {DEPTH} deep")
        todo += [(MESSAGES[kind][n].inside, _bytes(v), deeper) for n, v in found if MESSAGES[kind][n].inside]
    seen.finish()


class _Seen:
    """What was met so far, and what can be judged only when all is known."""

    def __init__(self) -> None:
        self.fields = 0
        self._nodes = 0
        self._largest: Counter[str] = Counter()  # whole number of each small constant
        self._volume: Counter[str] = Counter()  # and their product
        self._sized: set[str] = set()  # values that operators take sizes from

    def node(self, found: list[Field]) -> None:
        self._nodes += 1
        if self._nodes > NODES:
            raise ValueError(f"more than {NODES:,} nodes")
        domain, op = _text(found, 7), _text(found, 4)
        if op not in OPERATORS[_domain(domain)]:
            raise ValueError(f"the operator {op[:40]!r}, which gonie does not write")
        if op in SIZING:
            self._sized.update(_decoded(_bytes(value)) for number, value in found if number == 1)

    def attribute(self, found: list[Field]) -> None:
        for number, value in found:
            if number in (3, 8):
                _largest(_wholes(value))

    def tensor(self, found: list[Field]) -> None:
        """Do the bytes fit the shape? Small whole numbers are kept, as sizes may be made of them."""
        dims = [whole for number, value in found if number == 1 for whole in _wholes(value)]
        type_ = next((value for number, value in found if number == 2), 0)
        size = _BYTES.get(type_) if isinstance(type_, int) else None
        if size is None:
            raise ValueError(f"a tensor of type {type_}, not of numbers as models have them")
        if len(dims) > AXES or min(dims, default=0) < 0 or _stored(found, size) != prod(dims):
            raise ValueError(f"a tensor of the shape {dims[:8]}, but with bytes of another")
        if type_ in (_INT32, _INT64) and prod(dims) <= FEW:
            name, wholes = _text(found, 8), _integers(found, size)
            self._largest[name] = max(self._largest[name], _largest(wholes))
            self._volume[name] = max(self._volume[name], prod(abs(whole) or 1 for whole in wholes))

    def finish(self) -> None:
        for name in self._sized:
            if self._largest[name] > WIDEST or self._volume[name] > LARGEST:
                raise ValueError(f"a constant of {self._volume[name]:,} numbers")


def _known(kind: str, message: memoryview, seen: _Seen) -> list[Field]:
    """The fields of a message; one that it may not have, or not twice, is refused."""
    found, slots = [], MESSAGES[kind]
    given: set[int] = set()
    for field in fields(message):
        slot = slots.get(field.number)
        seen.fields += 1
        if slot is None:
            external = kind == "tensor" and field.number in (13, 14)
            what = "that lies in another file" if external else f"with field {field.number}, never written"
            raise ValueError(f"a {kind} {what}")
        if (field.number in given and not slot.again) or seen.fields > FIELDS:
            raise ValueError(f"a {kind} with field {field.number} too often")
        given.add(field.number)
        found.append(field)
    return found


def _domain(name: str) -> str:
    """The domain of an operator as ``OPERATORS`` has it."""
    name = "" if name == "ai.onnx" else name
    if name not in OPERATORS:
        raise ValueError(f"operators of {name[:40]!r}, which gonie does not write")
    return name


def _largest(wholes: list[int]) -> int:
    """The largest of some whole numbers, minus signs apart, and without those that mean to the end."""
    sizes = [abs(whole) for whole in wholes if whole not in TO_THE_END]
    if max(sizes, default=0) > LARGEST:
        raise ValueError(f"the number {max(sizes):,} where sizes are below {LARGEST:,}")
    return max(sizes, default=0)


def _stored(found: list[Field], size: int) -> int:
    """How many numbers of ``size`` bytes a tensor holds; -1 where it has them in two ways, or half of one."""
    raw = [len(_bytes(value)) for number, value in found if number == 9]
    own = {number for number, _ in found if number in (4, 5, 7, 10)}
    if len(raw) + len(own) > 1 or any(length % size for length in raw):
        return -1
    return sum(length // size for length in raw) + sum(_count(n, value) for n, value in found if n in own)


def _count(number: int, value: int | memoryview) -> int:
    """How many numbers a field of typed data has: of 4 or 8 bytes each, or of seven bits to a byte."""
    if isinstance(value, int):
        return 1
    if size := {4: 4, 10: 8}.get(number):
        if len(value) % size:
            raise ValueError("a tensor with half a number")
        return len(value) // size
    return int(np.count_nonzero(np.frombuffer(value, dtype=np.uint8) < 128))


def _integers(found: list[Field], size: int) -> list[int]:
    raw = next((_bytes(value) for number, value in found if number == 9), None)
    if raw is not None:
        return [int(whole) for whole in np.frombuffer(raw, dtype=f"<i{size}")]
    return [whole for number, value in found if number in (5, 7) for whole in _wholes(value)]


def _wholes(value: int | memoryview) -> list[int]:
    """Whole numbers, alone or packed."""
    if isinstance(value, int):
        return [signed(value)]
    if len(value) > LONGEST:
        raise ValueError(f"a list of sizes of {len(value):,} bytes")
    return [signed(whole) for whole in varints(value)]


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a whole number where a message or text should be")
    return value


def _text(found: list[Field], wanted: int) -> str:
    return next((_decoded(_bytes(value)) for number, value in found if number == wanted), "")


def _decoded(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")
