"""Group the items of a stream that are scored together, without reading all of it first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

FIRST, MOST = 256, 32768  # tokens per group: few at first, so that the first results come soon

Item = TypeVar("Item")


def grouped(
    items: Iterable[Item], size: Callable[[Item], int], *, first: int = FIRST
) -> Iterator[list[Item]]:
    """Yield consecutive items in groups, doubling from ``first`` to ``MOST`` tokens by ``size``.

    If all results are needed at once, ``first=MOST`` is faster, as large groups need less padding.
    """
    group: list[Item] = []
    tokens, limit = 0, first
    for item in items:
        group.append(item)
        tokens += size(item)
        if tokens >= limit:
            yield group
            group, tokens, limit = [], 0, min(2 * limit, MOST)
    if group:
        yield group
