"""Mention replacement: an entity becomes another training entity of the same type (Dai & Adel 2020)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gonie.text.augment.pieces import WordPiece, put_together, take_apart
from gonie.text.schemes import Scheme, TokenSpan, from_spans, to_spans
from gonie.text.types import Sentence

Mention = tuple[WordPiece, ...]
PARTICLES = ("은는", "이가", "을를", "과와")
"""Korean particles after a final consonant, and after a vowel."""


class ReplacedMentions:
    """Replaces mentions, each with probability ``rate``, by others of the same type.

    Every distinct mention of the training sentences is equally likely, so that rare names are seen often.
    A Korean particle after a mention takes the form that fits it. Tags are in ``scheme``.
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
                old[end:] = with_particle(mention[-1].word, old[end:])
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


def with_particle(word: str, after: Sequence[WordPiece]) -> list[WordPiece]:
    """Return the pieces after a Korean word, with the form of its particle that fits: 강감찬은, 김구는.

    Only a particle that is a token of its own, and the last one before a space, is recognised.
    """
    pieces = list(after)
    if not pieces or pieces[0].before != "" or not "가" <= word[-1] <= "힣":
        return pieces
    alone = len(pieces) == 1 or pieces[1].before != "" or not pieces[1].word[0].isalnum()
    forms = next((forms for forms in PARTICLES if pieces[0].word in tuple(forms)), "")
    if alone and forms:
        closed = (ord(word[-1]) - ord("가")) % 28 > 0
        pieces[0] = pieces[0].spelled(forms[0] if closed else forms[1])
    return pieces
