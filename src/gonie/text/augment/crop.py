"""Cropping: a part of a sentence, as a sentence of its own (after Şahin & Steedman 2018)."""

from __future__ import annotations

import numpy as np

from gonie.text.augment.pieces import put_together, take_apart
from gonie.text.schemes import Scheme, from_spans, to_spans
from gonie.text.types import Sentence


class CroppedSentence:
    """Keeps consecutive words and leaves out up to ``rate`` of all words at both ends together.

    Şahin & Steedman 2018 (D18-1545) crop along a syntax tree; here any run of words is kept, and every share
    of words up to ``rate`` is equally likely to be left out. A mention at an end is kept whole or left out
    whole. So the copies of a file in which every sentence has an entity also show text without one.
    """

    def __init__(self, *, scheme: Scheme, rate: float) -> None:
        self._scheme = scheme
        self._rate = rate

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return a part of the sentence, or None if all or none of its words are left."""
        tags, pieces = sentence.tags or (), take_apart(sentence)
        kept = round(len(pieces) * (1 - self._rate * generator.random()))
        start = int(generator.integers(len(pieces) - kept + 1))
        end = start + kept
        if not self._scheme.has_spans:
            return put_together(pieces[start:end], tags[start:end], sentence) if start < end else None
        spans = to_spans(tags, self._scheme)
        for first, last, _ in spans:  # a mention that is cut is left out
            start = last if first < start < last else start
            end = first if first < end < last else end
        if start >= end:
            return None
        inside = [
            (first - start, last - start, label) for first, last, label in spans if start <= first < end
        ]
        return put_together(pieces[start:end], from_spans(inside, end - start, self._scheme), sentence)
