"""Tokenising blocks of paragraphs, in this process or in several; the blocks come back in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gonie.features.lm_text.blocks import TokenBlock, tokenised
from gonie.features.lm_text.cutting import Cutting
from gonie.system.thread_map import cores
from gonie.system.worker_pool import Tell, worker_pool

WORTH_IT = 1 << 20
"""Bytes of text below which other processes would take longer to start than to work."""

KIWI = 600 << 20
"""Bytes of memory that the morpheme tokenizer takes, in each process again."""

TokeniseBlocks = Callable[[Iterable[list[str]]], Iterator[TokenBlock]]
"""Tokenises blocks of paragraphs and gives them in their order."""


def worker_count(asked: int, cutting: Cutting, *, size: int) -> int:
    """How many processes to use for ``size`` bytes of files; 0 chooses automatically."""
    if asked:
        return asked
    if size < WORTH_IT:
        return 1
    return max(1, min(cores(), _memory() // 2 // KIWI)) if cutting.loads_much else cores()


def _memory() -> int:
    """Bytes of memory of this machine; a little where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * KIWI


@contextmanager
def block_workers(number: int, cutting: Cutting) -> Iterator[TokeniseBlocks]:
    """What tokenises in ``number`` processes, in this one if it is one; none is left after the block."""
    if number == 1:
        yield lambda blocks: map(_start(None, cutting), blocks)
        return
    with worker_pool(
        number, _start, cutting, advice="Start again with fewer workers; finished files are kept."
    ) as pool:
        yield lambda blocks: pool.map(blocks, ordered=True)


def _start(tell: Tell | None, cutting: Cutting) -> Callable[[list[str]], TokenBlock]:
    cut = cutting.tokenizer()
    return lambda block: tokenised(block, cut)
