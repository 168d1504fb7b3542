"""Label-wise token replacement: a word becomes another training word with the same tag (Dai & Adel 2020)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gonie.text.augment.pieces import WordPiece, put_together, take_apart
from gonie.text.augment.where import Where, changeable
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence


class ReplacedTokens:
    """Replaces words, each with probability ``rate``, by words that the training data have with this tag.

    A word is as likely as it is frequent with the tag. Tags, which are in ``scheme``, stay as they are.
    """

    def __init__(
        self, sentences: Iterable[Sentence], *, scheme: Scheme, rate: float, where: Where = "all"
    ) -> None:
        self._found: dict[str, list[WordPiece]] = {}
        for sentence in sentences:
            for piece, tag in zip(take_apart(sentence), sentence.tags or (), strict=True):
                self._found.setdefault(tag, []).append(piece)
        self._scheme = scheme
        self._rate = rate
        self._where = where

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return the sentence with other words, or None if all are the same."""
        tags = sentence.tags or ()
        pieces = take_apart(sentence)
        chosen = generator.random(len(pieces)) < self._rate
        for place in np.flatnonzero(chosen & changeable(tags, self._where, self._scheme)):
            known = self._found.get(tags[place]) or [pieces[place]]
            pieces[place] = known[generator.integers(len(known))].in_place_of(pieces[place])
        return put_together(pieces, tags, sentence)
