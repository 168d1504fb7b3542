"""What `gonie explain` measures faithfulness on: held-out texts, and where the figures are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from gonie.explain.faithfulness_cache import Kept, digest
from gonie.formats.parallel_files import is_parallel
from gonie.runtime.bundle import INDEX
from gonie.system.files import is_stream, lines
from gonie.tasks.load import find_bundle

I = TypeVar("I")  # noqa: E741 (a text or a sentence)

MOST, FEWEST, BUDGET = 100, 10, 10_000_000
"""How many texts are measured on at most, at least, and in tokens read: about a minute on a CPU."""
SEED = 0
AGAIN = 300
"""How often an answer is asked for again, about: for a few methods, draws and shares of the tokens."""


@dataclass(frozen=True)
class HeldOut(Generic[I]):
    """The items, where they come from, and where the figures are kept, if anywhere."""

    items: Iterable[I]
    source: str
    kept: Kept | None


def figures_of(items: Iterable[I], file: Path, folder: Path, what: str) -> HeldOut[I]:
    """The items of ``file``; what is measured on them is kept in ``folder`` if it is that of a run.

    ``what`` tells apart figures of different things that are measured on the same texts.
    """
    bundle = find_bundle(folder)
    if bundle == folder or is_stream(file):
        return HeldOut(items, file.name, None)
    measured = f"{what}, {MOST} drawn by {SEED}, {BUDGET}".encode()
    parts = ((bundle / INDEX).read_bytes(), measured, *_content(file))
    return HeldOut(items, file.name, Kept(folder, digest(parts)))


def cost(tokens: int, answers: int = 1) -> int:
    """How many tokens are read for so many answers about a text: each is left out once, and all of it is
    read again and again."""
    return answers * tokens * (tokens + AGAIN)


def affordable(items: Iterable[I], price: Callable[[I], int]) -> list[I]:
    """No more items than can be measured in about a minute, drawn by lot, in their order.

    The first ones would not do: many files are sorted by label.
    """
    known = list(items)
    chosen: list[int] = []
    spent = 0
    for at in np.random.default_rng(SEED).permutation(len(known)).tolist():
        spent += price(known[at])
        if len(chosen) == MOST or (spent > BUDGET and len(chosen) >= FEWEST):
            break
        chosen.append(at)
    return [known[at] for at in sorted(chosen)]


def _content(file: Path) -> Iterator[bytes]:
    """The lines of a file, or of those in a folder of texts; what cannot be read is refused."""
    for each in sorted(file.iterdir()) if is_parallel(file) else [file]:
        yield from (line.encode() for _, line in lines(each))
