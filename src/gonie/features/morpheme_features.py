"""Sparse features from morphological analysis: the morphemes of a token, and their tags.

A surface token may contain several morphemes (했 is 하/VV and 었/EP). One morpheme has many surfaces (했,
하고, 합니다). Through these features, a rare token shares what the model learned about its morphemes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.text.tokenizers.morphemes import parse_morphemes
from gonie.text.types import Sentence

COLUMN = "morphemes"
"""The column that holds the analyses of a tokenizer."""


class MorphemeFeatures:
    """Extract ``하/VV`` and ``VV`` for each morpheme of a token.

    A token without an analysis has no features.
    """

    name = "morphemes"

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        column = sentence.columns.get(COLUMN, ("",) * len(sentence))
        return [
            [feature for m in parse_morphemes(analysis) for feature in (f"{m.form}/{m.tag}", m.tag)]
            for analysis in column
        ]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle: only the name, as there are no settings."""
        return {"name": self.name}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> MorphemeFeatures:
        """Restore the extractor from the result of ``to_json``."""
        return cls()
