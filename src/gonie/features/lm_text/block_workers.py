"""Who tokenises: this process alone, or several at once; the blocks come back in their order either way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Protocol

from gonie.errors import GonieError
from gonie.features.lm_text.blocks import TokenBlock, tokenised
from gonie.features.lm_text.cutting import Cutting
from gonie.system.worker_pool import Hired, cores, hired
from gonie.text.tokenizers import Tokenizer

AHEAD = 4
"""Blocks for each process that may be tokenised before their turn to be written comes."""

WORTH_IT = 1 << 20
"""Bytes of text below which other processes would take longer to begin than to work."""

KIWI = 600 << 20
"""Bytes of memory that the morpheme tokenizer takes, in each process again."""


class Crew(Protocol):
    """Tokenises blocks of paragraphs."""

    def __call__(self, blocks: Iterable[list[str]]) -> Iterator[TokenBlock]:
        """The blocks, tokenised, in their order."""


def crew_size(asked: int, cutting: Cutting, *, size: int) -> int:
    """How many processes to use for ``size`` bytes of files: as many as asked for, 0 as many as are good."""
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
def crew(number: int, cutting: Cutting) -> Iterator[Crew]:
    """``number`` processes that tokenise, this one if it is one; none is left after the block."""
    if number == 1:
        yield Alone(cutting.tokenizer())
        return
    with hired(number, work, cutting) as workers:
        yield Together(workers)


class Alone:
    """Tokenises in this process."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, blocks: Iterable[list[str]]) -> Iterator[TokenBlock]:
        """The blocks, tokenised, in their order."""
        return (tokenised(block, self._tokenizer) for block in blocks)


class Together:
    """Hands each block to the next process that is free.

    A process is given a block only when it has answered the last one: two that both write and do not read
    would wait for each other for ever.
    """

    def __init__(self, workers: list[Hired]) -> None:
        self._workers = {worker.pipe: worker for worker in workers}

    def __call__(self, blocks: Iterable[list[str]]) -> Iterator[TokenBlock]:
        """The blocks, tokenised, in their order."""
        waiting = enumerate(blocks)
        busy: dict[Connection, int] = {}
        done: dict[int, TokenBlock] = {}
        turn = 0
        while True:
            free = [pipe for pipe in self._workers if pipe not in busy]
            room = len(self._workers) * AHEAD - len(busy) - len(done)
            for pipe, (number, block) in zip(free, islice(waiting, min(len(free), room)), strict=False):
                with suppress(OSError):  # it is gone: its last answer says why
                    pipe.send(block)
                busy[pipe] = number
            if not busy and not done:
                return
            if turn not in done:
                ready = wait(list(busy))
                for pipe in [pipe for pipe in busy if pipe in ready]:
                    done[busy.pop(pipe)] = self._answer(pipe)
                continue
            yield done.pop(turn)
            turn += 1

    def _answer(self, pipe: Connection) -> TokenBlock:
        try:
            block: TokenBlock = self._workers[pipe].answer()
        except (EOFError, OSError):
            raise self._lost(pipe) from None
        return block

    def _lost(self, pipe: Connection) -> GonieError:
        return GonieError(
            f"expected tokenised text, but the process that made it ended {self._workers[pipe].ended()}; "
            "perhaps the memory was used up. Begin again, with fewer workers: finished files are kept"
        )


def work(pipe: Connection, cutting: Cutting) -> None:
    """What a process does: tokenise the blocks that come through its pipe until none comes."""
    cut = cutting.tokenizer()
    while True:
        pipe.send(tokenised(pipe.recv(), cut))
