"""What every section of a recipe is made of: frozen, typed, and closed to keys it does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Rate = Annotated[float, Field(ge=0.0, lt=1.0)]
Size = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A frozen part of a recipe that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, eq=False)
class ChoiceOf:
    """Marks a key whose value names an entry of a table, or ``auto`` where ``also`` has it.

    The table is read when a value is checked, so a part that is added to its table can be named in recipes.
    """

    table: Mapping[str, Any]
    also: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def check(self, name: str) -> str:
        """The name, if the table has it."""
        if name not in (known := (*self.also, *self.table)):
            raise ValueError(f"expected one of {', '.join(known)}, got {name!r}")
        return name
