"""Vectors of words by their spelling, each word computed once and kept while there is room.

The network over bytes sees no context, and words come again: over running text it would else cost more than
all that reads them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from gonie.features.byte_spelling import PADDING, begin_row, end_row, spell_bytes
from gonie.nn.bilm.spelled_words import SpelledWords

MOST = 1 << 16
"""Words that are kept; beyond, all are forgotten and counting starts again."""
AT_ONCE = 1024
"""Words that are computed at once."""


class SpelledCache:
    """The vectors of words and of a sentence's two marks, on the network's own device.

    ``longest`` is how many ids a word is spelled with. Call without gradients, and while the weights stay as
    they are: what is kept would not follow them.
    """

    def __init__(self, words: SpelledWords, *, longest: int) -> None:
        self._words = words
        self._longest = longest
        self._places: dict[str, int] = {}
        self._table = words.projection.weight.new_empty(0, words.width)  # (room, P)

    def marks(self) -> Tensor:
        """The vectors of a sentence's beginning and end. Shape: (2, P)."""
        return self._compute(np.stack([begin_row(self._longest), end_row(self._longest)]))

    def places(self, words: Sequence[str]) -> list[int]:
        """Where in ``table`` each word stands; new ones are added. Valid until the next call."""
        new = list(dict.fromkeys(word for word in words if word not in self._places))
        if len(self._places) + len(new) > MOST:
            self._places = {}
            new = list(dict.fromkeys(words))
        self._add(new)
        return [self._places[word] for word in words]

    @property
    def table(self) -> Tensor:
        """The vectors that ``places`` points into. Shape: (room, P)."""
        return self._table

    def _add(self, new: Sequence[str]) -> None:
        """Compute words that are not kept, those of like length together."""
        first = len(self._places)
        self._make_room(first + len(new))
        spelled = spell_bytes(new, longest=self._longest)  # (U, longest)
        by_length = np.argsort((spelled != PADDING).sum(1), kind="stable")
        for start in range(0, len(new), AT_ONCE):
            rows = by_length[start : start + AT_ONCE]
            self._table[torch.from_numpy(first + rows).to(self._table.device)] = self._compute(spelled[rows])
        self._places.update((word, first + row) for row, word in enumerate(new))

    def _make_room(self, size: int) -> None:
        room = len(self._table)
        if size > room:
            more = self._table.new_empty(max(size, 2 * room) - room, self._table.shape[1])
            self._table = torch.cat([self._table, more])

    def _compute(self, spelled: np.ndarray[tuple[int, int], np.dtype[np.int16]]) -> Tensor:
        """The vectors of spelled words, their padding cut to what the widest filter can tell apart."""
        real = int((spelled != PADDING).sum(1).max())
        cut = np.ascontiguousarray(spelled[:, : real + self._words.widest], dtype=np.int64)
        vectors: Tensor = self._words(torch.from_numpy(cut).to(self._table.device))
        return vectors
