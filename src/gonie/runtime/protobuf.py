"""The wire format of Protocol Buffers: what it takes to look into an ONNX file without the ``onnx`` package.

A message is fields one after the other, each a number, a wire type and a value; values that are messages are
looked into by asking again. Nothing is copied and nothing is recursive, so a hostile message costs no more
than its own bytes. Anything that is not such a message is a ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}
_LONGEST = 10  # bytes of a whole number of 64 bits, seven bits each


class Field(NamedTuple):
    """Its number, and its value: a whole number below 2**64, or the bytes of whatever else it is."""

    number: int
    value: int | memoryview


def fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message, in order."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            whole, at = _varint(message, at)
            yield Field(number, whole)
            continue
        size, at = _varint(message, at) if kind == BYTES else (_SIZES.get(kind), at)
        if size is None or not number:
            raise ValueError(f"a field of number {number} and type {kind}")
        if size > len(message) - at:
            raise ValueError(f"a field of {size:,} bytes where {len(message) - at:,} are left")
        yield Field(number, message[at : at + size])
        at += size


def varints(packed: memoryview) -> Iterator[int]:
    """Whole numbers one after the other, as repeated fields pack them."""
    at = 0
    while at < len(packed):
        whole, at = _varint(packed, at)
        yield whole


def signed(whole: int) -> int:
    """A whole number of 64 bits as the two's complement that ONNX means by it."""
    return whole - (1 << 64) if whole >> 63 else whole


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """The whole number at ``at``, and where it ends."""
    whole = 0
    for place, byte in enumerate(message[at : at + _LONGEST]):
        whole |= (byte & 127) << 7 * place
        if byte < 128:
            if whole >> 64:
                break
            return whole, at + place + 1
    raise ValueError("a whole number that does not end within 64 bits")
