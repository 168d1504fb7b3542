"""Look up the graph function of a part in the table of its role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gonie.errors import GonieError

Function = TypeVar("Function")


def look_up(role: str, part: object, table: Mapping[type, Function]) -> Function:
    """Return the entry of ``table`` for the type of ``part``, or raise an error if there is none."""
    found = table.get(type(part))
    if found is None:
        names = ", ".join(sorted(kind.__name__ for kind in table))
        raise GonieError(
            f"cannot export the {role} {type(part).__name__}. Use one of {names}, or add its graph function "
            "to the table in gonie/export."
        )
    return found
