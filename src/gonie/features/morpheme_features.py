"""What a morphological analysis says of a token, as sparse features: its morphemes, and their tags.

A surface token may hold several morphemes (했 is 하/VV and 었/EP), and one morpheme has many surfaces (했,
하고, 합니다): with its analyses a rare token shares what is known of their parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.text.tokenizers.morphemes import parse_morphemes
from gonie.text.types import Sentence

COLUMN = "morphemes"
"""The column in which a tokenizer leaves its analyses."""


class MorphemeFeatures:
    """``하/VV`` and ``VV`` for each morpheme of a token; a token without an analysis has none."""

    name = "morphemes"

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The feature strings of every token."""
        column = sentence.columns.get(COLUMN, ("",) * len(sentence))
        return [
            [feature for m in parse_morphemes(analysis) for feature in (f"{m.form}/{m.tag}", m.tag)]
            for analysis in column
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain values for the bundle: there is nothing to know."""
        return {"name": self.name}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> MorphemeFeatures:
        """What ``to_json`` wrote."""
        return cls()
