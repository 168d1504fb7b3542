"""A reader of the Protocol Buffers wire format, to inspect ONNX files without the ``onnx`` package.

A message is a sequence of fields, each with a number, a wire type and a value. To read a value that is itself
a message, call ``fields`` again. Nothing is copied and nothing is recursive, so a hostile message costs no
more than its own bytes. Anything else raises ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}
_LONGEST = 10  # bytes of a 64-bit varint, seven bits each


class Field(NamedTuple):
    """A field: its number and its value, which is an integer below 2**64 or the bytes of any other type."""

    number: int
    value: int | memoryview


def fields(message: memoryview) -> Iterator[Field]:
    """Yield the fields of a message in order."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            integer, at = _varint(message, at)
            yield Field(number, integer)
            continue
        size, at = _varint(message, at) if kind == BYTES else (_SIZES.get(kind), at)
        if size is None or not number:
            raise ValueError(f"invalid field {number} of wire type {kind}")
        if size > len(message) - at:
            raise ValueError(f"field of {size:,} bytes, but only {len(message) - at:,} are left")
        yield Field(number, message[at : at + size])
        at += size


def varints(packed: memoryview) -> Iterator[int]:
    """Yield the integers of a packed repeated field."""
    at = 0
    while at < len(packed):
        integer, at = _varint(packed, at)
        yield integer


def signed(integer: int) -> int:
    """Return a 64-bit integer as the two's complement number that it encodes in ONNX."""
    return integer - (1 << 64) if integer >> 63 else integer


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the integer at ``at``, and its end."""
    integer = 0
    for place, byte in enumerate(message[at : at + _LONGEST]):
        integer |= (byte & 127) << 7 * place
        if byte < 128:
            if integer >> 64:
                break
            return integer, at + place + 1
    raise ValueError("integer longer than 64 bits")
