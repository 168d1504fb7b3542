"""Text that is tokenised already: a text is a sentence, its tokens stand apart by blanks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gonie.text.types import Sentence

_TOKEN = re.compile(r"\S++")


@dataclass(frozen=True)
class BlankTokenizer:
    """Cuts at white space alone; ``language`` and ``unit`` are those of whoever tokenised the text."""

    language: str
    unit: str

    def __call__(self, text: str) -> list[Sentence]:
        """The one sentence of ``text``; none where there is only white space."""
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
        """What tells it from a tokenizer of raw text."""
        return {"language": self.language, "unit": self.unit, "tokenised": "by blanks"}
