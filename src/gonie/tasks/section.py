"""The base class of recipe sections, and the types of their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Rate = Annotated[float, Field(ge=0.0, lt=1.0)]
Size = Annotated[int, Field(ge=1)]
ColumnName = Annotated[str, Field(coerce_numbers_to_str=True)]
"""The name of a column, or its number."""


class Section(BaseModel):
    """A frozen section of a recipe. Unknown keys raise an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, eq=False)
class ChoiceOf:
    """Marks a key whose value is a name in ``table`` or in ``also``, such as ``auto``.

    The table is read when a value is checked, so recipes can name parts that were added to the table later.
    """

    table: Mapping[str, Any]
    also: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def check(self, name: str) -> str:
        """Return the name if it is in the table, otherwise raise an error."""
        if name not in (known := (*self.also, *self.table)):
            names = ", ".join(known)
            if near := get_close_matches(name, known, n=1):
                raise ValueError(f"unknown name: {name!r}; did you mean {near[0]!r}? Use one of {names}")
            raise ValueError(f"unknown name: {name!r}; use one of {names}")
        return name
