"""Held-out items to measure faithfulness on, as many as take about a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from gonie.explaining.faithfulness_cache import FaithfulnessCache, digest
from gonie.formats.parallel_files import is_parallel
from gonie.runtime.bundle import INDEX
from gonie.system.files import is_stream, lines
from gonie.tasks.bundled import index_digest
from gonie.tasks.explanation import HeldOutFile, ItemSize
from gonie.tasks.load import find_bundle

I = TypeVar("I")  # noqa: E741 (a text or a sentence)

MOST, FEWEST, BUDGET = 100, 10, 10_000_000
"""The most and the fewest items, and the budget in tokens read: about a minute on a CPU."""
SEED = 0
REPEATS = 300
"""Approximate number of repeated predictions per answer, over methods, draws and shares of tokens."""


def figures_cache(held_out: HeldOutFile, folder: Path) -> FaithfulnessCache | None:
    """Return the cache for the figures of these items, or None if ``folder`` is not a run folder."""
    bundle, file = find_bundle(folder), held_out.file
    if bundle == folder or is_stream(file):
        return None
    measured = f"{held_out.what}, {MOST} drawn by {SEED}, {BUDGET}".encode()
    index = (bundle / INDEX).read_bytes()
    return FaithfulnessCache(folder, digest((index, measured, *_content(file))), index_digest(index))


def sample_items(items: Iterable[I], size: Callable[[I], ItemSize]) -> list[I]:
    """Return a random sample of the items, in their order, that can be measured in about a minute.

    The first items would not do, since many files are sorted by label.
    """
    known = list(items)
    chosen: list[int] = []
    spent = 0
    for at in np.random.default_rng(SEED).permutation(len(known)).tolist():
        spent += _cost(size(known[at]))
        if len(chosen) == MOST or (spent > BUDGET and len(chosen) >= FEWEST):
            break
        chosen.append(at)
    return [known[at] for at in sorted(chosen)]


def _cost(size: ItemSize) -> int:
    """Return the number of tokens read: each token is erased once, and the whole item is read repeatedly."""
    return size.answers * size.tokens * (size.tokens + REPEATS)


def _content(file: Path) -> Iterator[bytes]:
    """Yield the lines of a file, or of the files in a folder of texts."""
    for each in sorted(file.iterdir()) if is_parallel(file) else [file]:
        yield from (line.encode() for _, line in lines(each))
