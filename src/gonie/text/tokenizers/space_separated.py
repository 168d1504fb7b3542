"""Tokenizer for tokenised text: each text is one sentence of space-separated tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gonie.text.types import Sentence

_TOKEN = re.compile(r"\S++")


@dataclass(frozen=True)
class SpaceTokenizer:
    """Split at white space only. ``language`` and ``unit`` describe how the text was tokenised."""

    language: str
    unit: str

    def __call__(self, text: str) -> list[Sentence]:
        """Return ``text`` as one sentence, or no sentence if it is only white space."""
        places = [found.span() for found in _TOKEN.finditer(text)]
        if not places:
            return []
        starts, ends = zip(*places, strict=True)
        return [
            Sentence(
                words=tuple(text[start:end] for start, end in places), text=text, starts=starts, ends=ends
            )
        ]

    def to_json(self) -> dict[str, str]:
        """Return its description, which differs from that of a tokenizer of raw text."""
        return {"language": self.language, "unit": self.unit, "tokenised": "by blanks"}
