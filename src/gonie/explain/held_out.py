"""What methods are measured on: held-out items, no more than can be measured in about a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from gonie.explain.faithfulness_cache import FaithfulnessCache, digest
from gonie.formats.parallel_files import is_parallel
from gonie.runtime.bundle import INDEX
from gonie.system.files import is_stream, lines
from gonie.tasks.explanation import HeldOutFile, ItemSize
from gonie.tasks.load import find_bundle

I = TypeVar("I")  # noqa: E741 (a text or a sentence)

MOST, FEWEST, BUDGET = 100, 10, 10_000_000
"""How many items are measured on at most, at least, and in tokens read: about a minute on a CPU."""
SEED = 0
AGAIN = 300
"""How often an answer is asked for again, about: for a few methods, draws and shares of the tokens."""


def figures_cache(held_out: HeldOutFile, folder: Path) -> FaithfulnessCache | None:
    """Where figures of these items are kept: in ``folder``, if it is that of a run."""
    bundle, file = find_bundle(folder), held_out.file
    if bundle == folder or is_stream(file):
        return None
    measured = f"{held_out.what}, {MOST} drawn by {SEED}, {BUDGET}".encode()
    parts = ((bundle / INDEX).read_bytes(), measured, *_content(file))
    return FaithfulnessCache(folder, digest(parts))


def affordable(items: Iterable[I], size: Callable[[I], ItemSize]) -> list[I]:
    """No more items than can be measured in about a minute, drawn by lot, in their order.

    The first ones would not do: many files are sorted by label.
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
    """How many tokens are read: each is left out once, and all of the item is read again and again."""
    return size.answers * size.tokens * (size.tokens + AGAIN)


def _content(file: Path) -> Iterator[bytes]:
    """The lines of a file, or of those in a folder of texts; what cannot be read is refused."""
    for each in sorted(file.iterdir()) if is_parallel(file) else [file]:
        yield from (line.encode() for _, line in lines(each))
