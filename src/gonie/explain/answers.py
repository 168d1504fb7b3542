"""A model's answers, asked for again with words taken out: what erasure and faithfulness are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from gonie.explain.erased import Keep
from gonie.explain.odds import Floats

BLOCK = 32768
"""Tokens that are read at a time, which bounds the memory: a long text has as many variants as tokens."""


class Answer(Protocol):
    """Something that a model said of an input with so many tokens."""

    @property
    def tokens(self) -> int:
        """M, those that can be taken out."""


A = TypeVar("A", bound=Answer)
A_contra = TypeVar("A_contra", bound=Answer, contravariant=True)
Item = TypeVar("Item")


class Answers(Protocol[A_contra]):
    """A model that can be asked for the same answers again."""

    def log_odds(self, questions: Iterable[tuple[A_contra, Keep]]) -> Floats:
        """The log-odds of each answer where only the tokens of its ``Keep`` are left. Shape: (Q,)."""


def in_blocks(items: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Consecutive items together, up to about ``BLOCK`` in size."""
    block: list[Item] = []
    full = 0
    for item in items:
        block.append(item)
        full += size(item)
        if full >= BLOCK:
            yield block
            block, full = [], 0
    if block:
        yield block
