"""Tokenise blocks of paragraphs in this process or in worker processes. Results are in input order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gonie.features.lm_text.blocks import TokenBlock, tokenised
from gonie.system.thread_map import cores
from gonie.system.worker_pool import Tell, worker_pool
from gonie.text.tokenizers.settings import TokenizerSettings

WORTH_IT = 1 << 20
"""Minimum bytes of text for worker processes. Below it they take longer to start than to work."""

KIWI = 600 << 20
"""Bytes of memory that the morpheme tokenizer needs in each process."""

TokeniseBlocks = Callable[[Iterable[list[str]]], Iterator[TokenBlock]]
"""Tokenises blocks of paragraphs and yields the results in input order."""


def worker_count(workers: int, settings: TokenizerSettings, *, size: int) -> int:
    """Return the number of processes for ``size`` bytes of text. ``workers = 0`` chooses automatically."""
    if workers:
        return workers
    if size < WORTH_IT:
        return 1
    return max(1, min(cores(), _memory() // 2 // KIWI)) if settings.needs_much_memory else cores()


def _memory() -> int:
    """Return the bytes of memory of this machine, or a low estimate if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * KIWI


@contextmanager
def block_workers(number: int, settings: TokenizerSettings) -> Iterator[TokeniseBlocks]:
    """Yield a function that tokenises in ``number`` processes, which end with the block.

    One process means this process.
    """
    if number == 1:
        yield lambda blocks: map(_start(None, settings), blocks)
        return
    with worker_pool(
        number, _start, settings, advice="Run again with fewer workers. Finished files are kept"
    ) as pool:
        yield lambda blocks: pool.map(blocks, ordered=True)


def _start(tell: Tell | None, settings: TokenizerSettings) -> Callable[[list[str]], TokenBlock]:
    cut = settings.tokenizer()
    return lambda block: tokenised(block, cut)
