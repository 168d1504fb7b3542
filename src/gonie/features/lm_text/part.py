"""Write the tokenised text of one file as a stream, with forms in order of first occurrence.

A part depends only on its file and the tokenizer, and is named by their digest. An interrupted build
therefore reuses the files it had finished, and a second file with the same content is not tokenised again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gonie.features.lm_text.blocks import TokenBlock
from gonie.features.lm_text.stream import FIRST, RESERVED, StreamWriter, TokenStream


class PartWriter:
    """Append blocks to a stream in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._writer = StreamWriter(folder)
        self._ids: dict[str, int] = {}
        self._counts: NDArray[np.int64] = np.zeros(1 << 10, dtype=np.int64)

    def append(self, block: TokenBlock) -> None:
        """Add the tokens of a block, with the ids of the part."""
        table = self._table(block.forms)
        self._reserve(FIRST + len(self._ids))
        self._counts[table] += block.counts
        self._writer.append(table[block.tokens])

    def finish(self, *, language: str, unit: str, fingerprint: str) -> TokenStream:
        """Complete the part and return it."""
        return self._writer.finish(
            (form.encode("utf-8") for form in self._ids),
            self._counts[: FIRST + len(self._ids)],
            language=language,
            unit=unit,
            fingerprint=fingerprint,
        )

    def _table(self, forms: list[str]) -> NDArray[np.int32]:
        """Return the id in the part of each id of a block (FIRST + forms,)."""
        ids = self._ids
        own = [ids.setdefault(form, FIRST + len(ids)) for form in forms]
        return np.array([*range(len(RESERVED)), *own], dtype=np.int32)

    def _reserve(self, size: int) -> None:
        """Ensure room for the counts of ``size`` ids, doubling it as needed."""
        if size > len(self._counts):
            grown = np.zeros(2 * size, dtype=np.int64)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
