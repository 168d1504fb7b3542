"""Tokenise blocks in this process or in several worker processes. The blocks keep their order."""

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
"""Blocks per worker that may be tokenised before their turn to be written."""

WORTH_IT = 1 << 20
"""Bytes of text below which starting workers takes longer than the work itself."""

KIWI = 600 << 20
"""Bytes of memory of the morpheme tokenizer, in each process."""


class Crew(Protocol):
    """Tokenise blocks of paragraphs."""

    def __call__(self, blocks: Iterable[list[str]]) -> Iterator[TokenBlock]:
        """Return the tokenised blocks in order."""


def crew_size(asked: int, cutting: Cutting, *, size: int) -> int:
    """Return the number of processes for ``size`` bytes of files. ``asked`` = 0 chooses automatically."""
    if asked:
        return asked
    if size < WORTH_IT:
        return 1
    return max(1, min(cores(), _memory() // 2 // KIWI)) if cutting.loads_much else cores()


def _memory() -> int:
    """Return the bytes of memory of this machine, or a low default if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * KIWI


@contextmanager
def crew(number: int, cutting: Cutting) -> Iterator[Crew]:
    """Start ``number`` tokenising processes, or use this process if it is 1. All end with the context."""
    if number == 1:
        yield Alone(cutting.tokenizer())
        return
    with hired(number, work, cutting) as workers:
        yield Together(workers)


class Alone:
    """Tokenise in this process."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, blocks: Iterable[list[str]]) -> Iterator[TokenBlock]:
        """Return the tokenised blocks in order."""
        return (tokenised(block, self._tokenizer) for block in blocks)


class Together:
    """Pass each block to the next free worker.

    A worker gets a block only after it has returned the previous one. Two processes that both write and do
    not read would deadlock.
    """

    def __init__(self, workers: list[Hired]) -> None:
        self._workers = {worker.pipe: worker for worker in workers}

    def __call__(self, blocks: Iterable[list[str]]) -> Iterator[TokenBlock]:
        """Return the tokenised blocks in order."""
        waiting = enumerate(blocks)
        busy: dict[Connection, int] = {}
        done: dict[int, TokenBlock] = {}
        turn = 0
        while True:
            free = [pipe for pipe in self._workers if pipe not in busy]
            room = len(self._workers) * AHEAD - len(busy) - len(done)
            for pipe, (number, block) in zip(free, islice(waiting, min(len(free), room)), strict=False):
                with suppress(OSError):  # the worker has ended: reading its last answer tells why
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
    """Run a worker: tokenise the blocks from its pipe until the pipe is closed."""
    cut = cutting.tokenizer()
    while True:
        pipe.send(tokenised(pipe.recv(), cut))
