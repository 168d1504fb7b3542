"""Tests the validators of untrusted values: types, sizes, and errors that name the place."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.runtime.validators import (
    Validator,
    anything,
    either,
    flag,
    integer,
    integers,
    list_of,
    mapping_of,
    null,
    number,
    record,
    text,
    texts,
)

SOUND: list[tuple[Validator, Any]] = [
    (flag, False),
    (number, 0),
    (number, -1.5),
    (integer(0, 3), 3),
    (text(3), "서울"),
    (text(9, of=("a", "b")), "b"),
    (texts(2, 3), []),
    (texts(2, 3), ["abc", ""]),
    (integers(2, 9), [0, 9]),
    (list_of(flag, 2), [True, False]),
    (mapping_of(flag, 1, 3), {"abc": True}),
    (record({"a": flag}, {"b": number}), {"a": True, "c": object()}),
    (either(flag, number), 3),
    (null, None),
    (anything, object()),
]
WRONG: list[tuple[Validator, Any]] = [
    (flag, 1),
    (flag, None),
    (number, True),
    (number, "1"),
    (integer(0, 3), True),
    (integer(0, 3), 4),
    (integer(0, 3), -1),
    (integer(0, 3), 1.0),
    (text(3), "four"),
    (text(3), 3),
    (text(3), "\ud800"),
    (text(9, of=("a", "b")), "c"),
    (texts(2, 3), ["a", "b", "c"]),
    (texts(2, 3), ["four"]),
    (texts(2, 3), "ab"),
    (texts(2, 3), ["a", None]),
    (texts(2, 3), ["\udc80"]),
    (integers(2, 9), [10]),
    (integers(2, 9), [-1]),
    (integers(2, 9), [True]),
    (integers(2, 9), [1, 2, 3]),
    (integers(2, 9), {"a": 1}),
    (list_of(flag, 2), [True, 1]),
    (list_of(flag, 2), [True] * 3),
    (list_of(flag, 2), {}),
    (mapping_of(flag, 1, 3), {"four": True}),
    (mapping_of(flag, 1, 3), {"a": True, "b": True}),
    (mapping_of(flag, 1, 3), {"a": 1}),
    (mapping_of(flag, 1, 3), []),
    (record({"a": flag}), {}),
    (record({"a": flag}), {"a": 1}),
    (record({}, {"b": number}), {"b": "x"}),
    (record({}), []),
    (either(flag, number), "x"),
    (null, 0),
]


@pytest.mark.parametrize(("kind", "value"), SOUND)
def test_valid_values_pass(kind: Validator, value: Any) -> None:
    kind(value, "it")


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_invalid_values_are_refused_naming_the_place(kind: Validator, value: Any) -> None:
    with pytest.raises(ValueError, match=r"the\.place"):
        kind(value, "the.place")


def test_an_error_message_is_short_for_large_values() -> None:
    for value in ("x" * 10_000, ["x"] * 10_000, {str(n): n for n in range(1000)}):
        with pytest.raises(ValueError, match=r"of 10,000|of 1,000") as told:
            flag(value, "a")
        assert len(str(told.value)) < 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON, st.sampled_from([kind for kind, _ in SOUND]))
def test_any_json_passes_or_raises_a_value_error(value: Any, kind: Validator) -> None:
    with suppress(ValueError):
        kind(value, "it")
