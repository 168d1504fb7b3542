"""Tests the protobuf reader: it finds what protobuf wrote, and refuses invalid bytes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import StringStringEntryProto, TensorProto

from gonie.runtime.protobuf import Field, fields, signed, varints

INTS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(INTS), st.binary(max_size=300), st.text(max_size=30), st.lists(st.floats(width=32)))
def test_fields_written_by_protobuf_are_found(
    wholes: list[int], raw: bytes, name: str, floats: list[float]
) -> None:
    tensor = TensorProto(int64_data=wholes, raw_data=raw, name=name, float_data=floats, dims=wholes)
    found = {number: bytes(value) for number, value in _fields(tensor) if isinstance(value, memoryview)}
    dims = [value for number, value in _fields(tensor) if number == 1]
    assert [signed(value) for value in dims if isinstance(value, int)] == wholes
    assert [signed(whole) for whole in varints(memoryview(found.get(7, b"")))] == wholes
    assert (found[9], found[8].decode()) == (raw, name)
    assert len(found.get(4, b"")) == 4 * len(floats)


def _fields(message: TensorProto) -> list[Field]:
    return list(fields(memoryview(message.SerializeToString())))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    """The fields lie within the bytes, or a ValueError is raised. The reader never hangs."""
    try:
        found = list(fields(memoryview(content)))
    except ValueError:
        return
    assert sum(1 + (len(value) if isinstance(value, memoryview) else 0) for _, value in found) <= len(content)


@given(st.data())
def test_a_truncated_message_is_refused_or_has_fewer_fields(data: st.DataObject) -> None:
    content = StringStringEntryProto(key="k" * 40, value="v" * 40).SerializeToString()
    size = data.draw(st.integers(1, len(content) - 1))
    with suppress(ValueError):
        assert len(list(fields(memoryview(content[:size])))) < 2


@pytest.mark.parametrize(
    "content", [b"\x80" * 11, b"\x08" + b"\xff" * 10, b"\x0b\x0c", b"\x02\x00", b"\x0e", b"\x0a\x05ab"]
)
def test_invalid_messages_are_refused(content: bytes) -> None:
    """Unterminated numbers, groups, field 0, unknown types, and lengths beyond the end."""
    with pytest.raises(ValueError, match=r"longer than|invalid field|are left"):
        list(fields(memoryview(content)))
