"""The base class of recipe sections: unknown keys are refused, and choices come from tables."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from gonie.tasks.section import ChoiceOf, Rate, Section, Size

TABLE: dict[str, int] = {"one": 1, "two": 2}


class Choosing(Section):
    """Keys that name entries of a table."""

    kind: Annotated[str, ChoiceOf(TABLE)] = "one"
    kinds: list[Annotated[str, ChoiceOf(TABLE)]] = Field(default=[])
    maybe: Annotated[str, ChoiceOf(TABLE, ("auto",))] = "auto"
    rate: Rate = 0.5
    size: Size = 1


def test_a_choice_is_an_entry_of_its_table() -> None:
    found = Choosing(kind="two", kinds=["two", "one"], maybe="one")
    assert (found.kind, found.kinds, found.maybe) == ("two", ["two", "one"], "one")
    assert Choosing(maybe="auto").maybe == "auto"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"kind": "three"}, "unknown name: 'three'; use one of one, two"),
        ({"kind": "auto"}, "unknown name: 'auto'; use one of one, two"),
        ({"kinds": ["one", "tow"]}, "unknown name: 'tow'; did you mean 'two'"),
        ({"maybe": "none"}, "unknown name: 'none'; did you mean 'one'"),
        ({"kind": 3}, "valid string"),
        ({"kind": None}, "valid string"),
    ],
    ids=str,
)
def test_an_unknown_choice_is_refused_with_the_known_ones(values: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Choosing.model_validate(values)


def test_the_table_is_read_when_a_value_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part added to its table after the sections are defined can be named in recipes."""
    with pytest.raises(ValidationError, match="use one of one, two"):
        Choosing(kind="three")
    monkeypatch.setitem(TABLE, "three", 3)
    assert Choosing(kind="three", kinds=["three"], maybe="three").kind == "three"
    with pytest.raises(ValidationError, match="use one of one, two, three"):
        Choosing(kind="four")
    monkeypatch.undo()
    with pytest.raises(ValidationError):
        Choosing(kind="three")


@pytest.mark.parametrize(
    "values",
    [{"knd": "one"}, {"rate": 1.0}, {"rate": -0.1}, {"rate": float("nan")}, {"size": 0}, {"size": 1.5}],
    ids=str,
)
def test_unknown_keys_and_values_out_of_bounds_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Choosing.model_validate(values)


def test_a_section_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Choosing().kind = "two"  # type: ignore[misc]
