"""Paragraphs tokenised a block at a time: what one process hands another, small and without a string twice.

Ids of a block count its own forms in the order of first sight. Whoever joins blocks in their order therefore
meets each form for the first time where the text has it first, however the text was cut into blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.features.lm_text.stream import BEGIN, END, FIRST
from gonie.text.tokenizers import Tokenizer

SIZE = 1 << 15
"""Characters of a block: about a hundredth of a second for English, nearly one for Korean morphemes."""

MOST_TOKENS = 400
"""Tokens of the longest sentence; a longer one is mostly a table or a list, and is cut."""


class TokenBlock(NamedTuple):
    """Tokenised paragraphs: ``forms[i]`` has the id ``FIRST + i`` in ``tokens``.

    ``counts`` (FIRST + forms) is how often each id is there, ``cut`` how many sentences were too long.
    """

    tokens: NDArray[np.int32]
    counts: NDArray[np.int64]
    forms: list[str]
    cut: int

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(self.tokens) - int(self.counts[:FIRST].sum())


class _Ids(dict[str, int]):
    """The next id for each form that is new."""

    def __missing__(self, form: str) -> int:
        self[form] = new = FIRST + len(self)
        return new


def blocks(paragraphs: Iterable[str]) -> Iterator[list[str]]:
    """Paragraphs in their order, together until they have ``SIZE`` characters."""
    block: list[str] = []
    size = 0
    for paragraph in paragraphs:
        block.append(paragraph)
        size += len(paragraph)
        if size >= SIZE:
            yield block
            block, size = [], 0
    if block:
        yield block


def tokenised(paragraphs: Iterable[str], tokenizer: Tokenizer) -> TokenBlock:
    """The sentences of the paragraphs, one after the other."""
    ids = _Ids()
    tokens: list[int] = []
    cut = 0
    for paragraph in paragraphs:
        for sentence in tokenizer(paragraph):
            words = sentence.words
            cut += len(words) > MOST_TOKENS
            for start in range(0, len(words), MOST_TOKENS):
                tokens.append(BEGIN)
                tokens += map(ids.__getitem__, words[start : start + MOST_TOKENS])
                tokens.append(END)
    flat = np.array(tokens, dtype=np.int32)
    return TokenBlock(flat, np.bincount(flat, minlength=FIRST + len(ids)), list(ids), cut)
