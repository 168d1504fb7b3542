"""Sparse features from the spaces of a text, for tokens that are smaller than words.

Syllables and morphemes do not contain the spaces between words, but these are informative: a name begins
where a word begins. A sentence without any space, or whose text is not known, has no features: people also
type without spaces, and then their absence says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.text.types import Sentence

WINDOW = (-1, 0, 1, 2)
"""The tokens, relative to a token, whose spaces are among its features."""
BEFORE, NONE, EDGE = "_", "-", "|"
"""A space before a token, none, and the ends of the sentence."""


class Spaces:
    """Extract whether there is a space before a token and before its neighbours.

    In 서울은 크다 by syllables, 은 has ``-1-``, ``0-``, ``1_``, ``2-`` and all of them together: ``--_-``.
    """

    name = "spaces"

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        text = sentence.text or ""
        inner = [BEFORE if text[max(start - 1, 0)].isspace() else NONE for start in sentence.starts[1:]]
        if BEFORE not in inner:
            return [[] for _ in sentence.words]
        marks = [EDGE, EDGE, *inner, EDGE, EDGE]
        return [_around(marks[at : at + len(WINDOW)]) for at in range(len(sentence))]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle: only the name, as there are no settings."""
        return {"name": self.name}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Spaces:
        """Restore the extractor from the result of ``to_json``."""
        return cls()


def _around(marks: list[str]) -> list[str]:
    return [*(f"{place}{mark}" for place, mark in zip(WINDOW, marks, strict=True)), "".join(marks)]
