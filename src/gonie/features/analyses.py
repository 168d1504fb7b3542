"""Sparse features from the morphological analysis of words: their morphemes, and the tags of these.

Most eojeol are rare, such as 조건으로, but their morphemes are not: 조건/NNG and 으로/JKB. Kiwi analyses each
word in its sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gonie.text.tokenizers import tokenizer
from gonie.text.tokenizers.morphemes import parse_morphemes
from gonie.text.types import Morpheme, Sentence

COLUMN = "morphemes"
"""A column of the sentence with its analyses, if a tokenizer or a file gives them."""


class Analyses:
    """Extract the morphemes of a word, their tags, the first, the last and all tags together.

    조건으로 has ``조건/NNG``, ``으로/JKB``, ``NNG``, ``JKB``, ``<NNG``, ``JKB>`` and ``<NNG+JKB>``.
    """

    name = "analyses"

    def __init__(self) -> None:
        self._tokenizer = tokenizer(language="ko", unit="morpheme", fold=True)

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        column = sentence.columns.get(COLUMN)
        if column is not None:
            return [_features(parse_morphemes(analysis)) for analysis in column]
        return [_features(own) for own in self._analysed(sentence)]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle: only the name, as there are no settings."""
        return {"name": self.name}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Analyses:
        """Restore the extractor from the result of ``to_json``."""
        return cls()

    def _analysed(self, sentence: Sentence) -> list[list[Morpheme]]:
        """Return the morphemes that begin in each token."""
        starts, ends = sentence.edges()
        found: list[list[Morpheme]] = [[] for _ in sentence.words]
        if not found:
            return found
        at = 0
        for part in self._tokenizer(sentence.surface[starts[0] : ends[-1]]):
            for start, analysis in zip(part.starts, part.columns[COLUMN], strict=True):
                while at + 1 < len(found) and starts[0] + start >= ends[at]:
                    at += 1
                found[at] += parse_morphemes(analysis)
        return found


def _features(morphemes: Sequence[Morpheme]) -> list[str]:
    if not morphemes:
        return []
    tags = [each.tag for each in morphemes]
    whole = [f"<{tags[0]}", f"{tags[-1]}>", f"<{'+'.join(tags)}>"]
    return [*(f"{each.form}/{each.tag}" for each in morphemes), *tags, *whole]
