"""A cache of context-free word vectors, computed from the bytes of each word.

The network over bytes sees no context, and words repeat. Without the cache, on continuous text it would cost
more than all the layers above it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from gonie.features.byte_spelling import PADDING, begin_row, end_row, spell_bytes
from gonie.nn.bilm.spelled_words import SpelledWords
from gonie.text.fold import fold_text

MOST = 1 << 16
"""The maximum number of cached words. When it is exceeded, the cache is cleared."""
AT_ONCE = 1024
"""The number of words computed at once."""


class SpelledCache:
    """Caches the vectors of folded words and of the two sentence marks, on the device of the network.

    ``longest`` is the number of ids per word. Call it without gradients and with fixed weights: cached
    vectors are not updated.
    """

    def __init__(self, words: SpelledWords, *, longest: int) -> None:
        self._words = words
        self._longest = longest
        self._places: dict[str, int] = {}
        self._table = words.projection.weight.new_empty(0, words.width)  # (room, P)

    def marks(self) -> Tensor:
        """Return the vectors of the beginning and end marks of a sentence. Shape: (2, P)."""
        return self._compute(np.stack([begin_row(self._longest), end_row(self._longest)]))

    def places(self, words: Sequence[str]) -> list[int]:
        """Return the row of each word in ``table``, adding new words. Valid until the next call."""
        new = list(dict.fromkeys(word for word in words if word not in self._places))
        if len(self._places) + len(new) > MOST:
            self._places = {}
            new = list(dict.fromkeys(words))
        self._add(new)
        return [self._places[word] for word in words]

    @property
    def table(self) -> Tensor:
        """The vectors that ``places`` refers to. Shape: (room, P)."""
        return self._table

    def _add(self, new: Sequence[str]) -> None:
        """Compute words that are not cached, grouped by length."""
        first = len(self._places)
        self._make_room(first + len(new))
        spelled = spell_bytes(map(fold_text, new), longest=self._longest)  # (U, longest)
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
        """Return the vectors of spelled words, with padding cut to what the widest filter can distinguish."""
        real = int((spelled != PADDING).sum(1).max())
        cut = np.ascontiguousarray(spelled[:, : real + self._words.widest], dtype=np.int64)
        vectors: Tensor = self._words(torch.from_numpy(cut).to(self._table.device))
        return vectors
