"""What the export says of a part it has no graph for."""

from __future__ import annotations

from collections.abc import Iterable

from gonie.errors import GonieError


def unknown(role: str, part: object, known: Iterable[type]) -> GonieError:
    """The error for a part that no table lists, with those that are listed."""
    names = ", ".join(sorted(kind.__name__ for kind in known))
    return GonieError(
        f"expected {_article(role)} {role} that can be exported ({names}), got {type(part).__name__}. "
        "Add a function for it to the table in gonie/export, or use one of these."
    )


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
