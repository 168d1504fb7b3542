"""Shuffle within segments: the words of a mention, or of a run of O, change places (Dai & Adel 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from gonie.text.augment.pieces import put_together, take_apart
from gonie.text.schemes import Scheme, to_spans
from gonie.text.types import Sentence


class ShuffledSegments:
    """Shuffles the words of segments, each with probability ``rate``. Tags stay at their places.

    A segment is a mention, or the words between two mentions. For plain tags, it is a run of one tag.
    """

    def __init__(self, *, scheme: Scheme, rate: float) -> None:
        self._scheme = scheme
        self._rate = rate

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return the sentence with shuffled segments, or None if all words stay at their places."""
        tags = sentence.tags or ()
        old = take_apart(sentence)
        new = list(old)
        for start, end in segments(tags, self._scheme):
            if end - start > 1 and generator.random() < self._rate:
                order = start + generator.permutation(end - start)
                new[start:end] = [
                    old[other].in_place_of(old[place])
                    for place, other in zip(range(start, end), order, strict=True)
                ]
        return put_together(new, tags, sentence)


def segments(tags: Sequence[str], scheme: Scheme) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words with one label: mentions and the words between them, or runs of one tag."""
    if not scheme.has_spans:
        at = 0
        for _, own in groupby(tags):
            length = sum(1 for _ in own)
            yield at, at + length
            at += length
        return
    at = 0
    for start, end, _ in to_spans(tags, scheme):
        if at < start:
            yield at, start
        yield start, end
        at = end
    if at < len(tags):
        yield at, len(tags)
