"""Tokenise paragraphs in blocks, the compact unit that workers exchange, with each form stored once.

The ids of a block number its own forms in order of first occurrence. When blocks are joined in order, each
form thus first appears where it first occurs in the text, however the text was divided into blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.features.lm_text.stream import BEGIN, END, FIRST
from gonie.text.fold import fold_text
from gonie.text.tokenizers import Tokenizer

SIZE = 1 << 15
"""Characters per block: about a hundredth of a second for English, nearly one for Korean morphemes."""

MOST_TOKENS = 400
"""Maximum tokens per sentence. A longer one is mostly a table or a list, and is split."""


class TokenBlock(NamedTuple):
    """Tokenised paragraphs: ``forms[i]`` has the id ``FIRST + i`` in ``tokens``.

    ``counts`` (FIRST + forms) is the count of each id, ``cut`` the number of sentences that were too long.
    """

    tokens: NDArray[np.int32]
    counts: NDArray[np.int64]
    forms: list[str]
    cut: int

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.tokens) - int(self.counts[:FIRST].sum())


class _Ids(dict[str, int]):
    """A mapping that assigns the next id to each new form."""

    def __missing__(self, form: str) -> int:
        self[form] = new = FIRST + len(self)
        return new


def blocks(paragraphs: Iterable[str]) -> Iterator[list[str]]:
    """Group paragraphs in order into blocks of at least ``SIZE`` characters."""
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
    """Fold the paragraphs (``gonie.text.fold``), and tokenise them into one sequence of sentences."""
    ids = _Ids()
    tokens: list[int] = []
    cut = 0
    for paragraph in paragraphs:
        for sentence in tokenizer(fold_text(paragraph)):
            words = sentence.words
            cut += len(words) > MOST_TOKENS
            for start in range(0, len(words), MOST_TOKENS):
                tokens.append(BEGIN)
                tokens += map(ids.__getitem__, words[start : start + MOST_TOKENS])
                tokens.append(END)
    flat = np.array(tokens, dtype=np.int32)
    return TokenBlock(flat, np.bincount(flat, minlength=FIRST + len(ids)), list(ids), cut)
