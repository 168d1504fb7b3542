"""A vector type of sixteen numbers for compiled loops, so that hot loops reliably become SIMD code.

The compiler also vectorises plain loops over arrays, but short ones badly. It must first check whether arrays
overlap, and it does not keep a block of sums in registers from one loop to the next. A loop over vectors,
written as ``total = total + splat(weight) * load(row)``, has neither problem. The numbers are float32 or
float64. A processor with smaller registers uses several for one vector. As with ``compiled``, after a change
to this file, touch the files that use it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

LANES = 16

operation = cast("Callable[[Callable[..., Any]], Any]", intrinsic)
"""Decorator: a function of compiled code, without the first argument, and the instructions it generates."""

REORDER = ("contract", "reassoc", "arcp", "nsz")
"""As for plain compiled loops: sums may be reordered, NaN and infinity are kept."""


class Vector(types.Type):
    """The Numba type of sixteen numbers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _Registers(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: Vector) -> None:
        number = ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, vector, ir.VectorType(number, LANES))  # type: ignore[no-untyped-call]


@operation
def load(_: Any, row: Any) -> Any:
    """Load the first sixteen numbers of a contiguous array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, row, args[0]), align=row.dtype.bitwidth // 8)

    return Vector(row.dtype)(row), generate


@operation
def store(_: Any, row: Any, vector: Any) -> Any:
    """Store a vector in the first sixteen elements of a contiguous array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, row, args[0])
        builder.store(args[1], place, align=row.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(row, vector), generate


@operation
def splat(_: Any, number: Any) -> Any:
    """Repeat one number sixteen times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, index = context.get_value_type(Vector(number)), ir.IntType(32)
        nothing = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(nothing, args[0], index(0))
        return builder.shuffle_vector(first, nothing, ir.VectorType(index, LANES)([0] * LANES))

    return Vector(number)(number), generate


@operation
def larger(_: Any, left: Any, right: Any) -> Any:
    """Return the larger of each pair of numbers; the right one if either is NaN."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return left(left, right), generate


@operation
def total(_: Any, vector: Any) -> Any:
    """Return the sum of the sixteen numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rest, index, width = args[0], ir.IntType(32), LANES
        while width > 1:  # add one half to the other
            width //= 2
            low, high = (
                builder.shuffle_vector(
                    rest, rest, ir.VectorType(index, width)(list(range(first, first + width)))
                )
                for first in (0, width)
            )
            rest = builder.fadd(low, high, flags=REORDER)
        return builder.extract_element(rest, index(0))

    return vector.dtype(vector), generate


def _pointer(context: Any, builder: Any, row: Any, array: Any) -> Any:
    data = context.make_array(row)(context, builder, array).data
    return builder.bitcast(data, context.get_value_type(Vector(row.dtype)).as_pointer())


def _define(symbol: Callable[..., Any], instruction: str) -> None:
    """Define a Python operator for two vectors."""

    @operation
    def applied(_: Any, left: Any, right: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args, flags=REORDER)

        return left(left, right), generate

    def apply(left: Any, right: Any) -> Any:
        return applied(left, right)

    @overload(symbol)
    def choose(left: Any, right: Any) -> Any:
        return apply if isinstance(left, Vector) and isinstance(right, Vector) else None


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define(_symbol, _instruction)
