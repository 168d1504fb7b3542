"""Change the spelling of words: in a sentence, whose tags stay, and in a text, whose marks move along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from gonie.text.augment.pieces import put_together, take_apart
from gonie.text.augment.where import Where, changeable
from gonie.text.labelled_text import LabelledText
from gonie.text.noise import Edit, NoisyText, edited
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence, Span

_WORD = re.compile(r"\S+")


class Respelling(Protocol):
    """Another spelling of the words of an example."""

    def __call__(self, words: Sequence[str], generator: np.random.Generator) -> Sequence[str]:
        """Return as many words, none of them empty."""
        ...


class RespelledSentence:
    """Changes the spelling of the words of a sentence. The number of words and the tags stay."""

    def __init__(self, spelling: Respelling, *, scheme: Scheme, where: Where = "all") -> None:
        self._spelling = spelling
        self._scheme = scheme
        self._where = where

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return the sentence in another spelling, or None if it is the same."""
        pieces, tags = take_apart(sentence), sentence.tags or ()
        places = np.flatnonzero(changeable(tags, self._where, self._scheme))
        words = self._spelling([pieces[place].word for place in places], generator)
        for place, word in zip(places, words, strict=True):
            pieces[place] = pieces[place].spelled(word)
        return put_together(pieces, tags, sentence)


class RespelledText:
    """Changes the spelling of the words of a text, which are separated by spaces. Marks move along."""

    def __init__(self, spelling: Respelling) -> None:
        self._spelling = spelling

    def __call__(self, text: LabelledText, generator: np.random.Generator) -> LabelledText | None:
        """Return the text in another spelling, or None if it is the same."""
        found = list(_WORD.finditer(text.text))
        words = self._spelling([each[0] for each in found], generator)
        edits = [Edit(*each.span(), word) for each, word in zip(found, words, strict=True) if each[0] != word]
        return with_edits(text, edits)


def with_edits(text: LabelledText, edits: Sequence[Edit]) -> LabelledText | None:
    """Return the text with edits, and its marks moved along, as ``with_marks`` does."""
    return with_marks(
        text, edited(text.text, [(mark.start, mark.end, mark.label) for mark in text.marks], edits)
    )


def with_marks(text: LabelledText, new: NoisyText) -> LabelledText | None:
    """Return a copy of ``text`` with a new text and its marks. Return None if it is the same or loses one."""
    if new.text == text.text or len(new.spans) < len(text.marks):
        return None
    marks = tuple(Span(start, end, label, new.text[start:end]) for start, end, label in new.spans)
    return replace(text, text=new.text, marks=marks)
