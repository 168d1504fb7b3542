"""A stream in groups: what is scored together, without reading all of it first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

FIRST, MOST = 256, 32768  # tokens of a group: few at first, so that answers come soon

Item = TypeVar("Item")


def grouped(
    items: Iterable[Item], size: Callable[[Item], int], *, first: int = FIRST
) -> Iterator[list[Item]]:
    """Consecutive items in groups, each twice as large as the last until ``MOST`` tokens by ``size``.

    Whoever waits for all answers anyway takes ``first=MOST``: small groups have few sentences of like length.
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
