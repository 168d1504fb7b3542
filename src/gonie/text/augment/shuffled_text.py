"""Shuffle the words of the clauses of a text, outside of its marks."""

from __future__ import annotations

import re

import numpy as np

from gonie.text.augment.words import with_edits
from gonie.text.labelled_text import LabelledText
from gonie.text.noise import Edit

_CLAUSE = re.compile(r"[^\s.,;:!?…][^.,;:!?…\n]*[^\s.,;:!?…]")


class ShuffledText:
    """Shuffles the words of clauses, each with probability ``rate``.

    A clause ends at a punctuation mark. Clauses with a mark, or a part of one, stay as they are.
    """

    def __init__(self, *, rate: float) -> None:
        self._rate = rate

    def __call__(self, text: LabelledText, generator: np.random.Generator) -> LabelledText | None:
        """Return the text with shuffled clauses, or None if it is the same."""
        edits = []
        for found in _CLAUSE.finditer(text.text):
            start, end = found.span()
            words = found[0].split()
            marked = any(mark.start < end and start < mark.end for mark in text.marks)
            if marked or len(words) < 2 or generator.random() >= self._rate:
                continue
            edits.append(Edit(start, end, " ".join(words[at] for at in generator.permutation(len(words)))))
        return with_edits(text, edits)
