"""The graph function of a part, from the table of its role; a part that no table lists is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gonie.errors import GonieError

Function = TypeVar("Function")


def look_up(role: str, part: object, table: Mapping[type, Function]) -> Function:
    """The entry of ``table`` for the type of ``part``."""
    found = table.get(type(part))
    if found is None:
        names = ", ".join(sorted(kind.__name__ for kind in table))
        raise GonieError(
            f"expected {_article(role)} {role} that can be exported ({names}), got {type(part).__name__}. "
            "Add a function for it to the table in gonie/export, or use one of these."
        )
    return found


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
