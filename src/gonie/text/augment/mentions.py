"""Mention replacement: an entity becomes another training entity of the same type (Dai & Adel 2020)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gonie.text.augment.pieces import Piece, put_together, take_apart
from gonie.text.schemes import Scheme, TokenSpan, from_spans, to_spans
from gonie.text.types import Sentence

Mention = tuple[Piece, ...]


class Mentions:
    """Replaces mentions, each with probability ``rate``, by others of the same type.

    Every distinct mention of the training sentences is equally likely, so that rare names are seen often.
    Tags are in ``scheme``.
    """

    def __init__(self, sentences: Iterable[Sentence], *, scheme: Scheme, rate: float) -> None:
        found: dict[str, dict[tuple[str, ...], Mention]] = {}
        for sentence in sentences:
            pieces = take_apart(sentence)
            for start, end, label in to_spans(sentence.tags or (), scheme):
                found.setdefault(label, {}).setdefault(sentence.words[start:end], tuple(pieces[start:end]))
        self._found = {label: list(own.values()) for label, own in found.items()}
        self._scheme = scheme
        self._rate = rate

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return the sentence with other mentions, or None if none is replaced."""
        old, new = take_apart(sentence), []
        spans: list[TokenSpan] = []
        at = 0
        for start, end, label in to_spans(sentence.tags or (), self._scheme):
            new += old[at:start]
            mention = tuple(old[start:end])
            if generator.random() < self._rate:
                mention = self._other(mention, label, generator)
            spans.append((len(new), len(new) + len(mention), label))
            new += mention
            at = end
        new += old[at:]
        return put_together(new, from_spans(spans, len(new), self._scheme), sentence)

    def _other(self, mention: Mention, label: str, generator: np.random.Generator) -> Mention:
        """Return another mention of the type, or the same one if there is no other."""
        words = [piece.word for piece in mention]
        known = self._found.get(label, [])
        others = [each for each in known if [piece.word for piece in each] != words]
        if not others:
            return mention
        first, *rest = others[generator.integers(len(others))]
        return (first.in_place_of(mention[0]), *rest)
