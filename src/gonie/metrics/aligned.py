"""Gold and predicted spans of a sentence as ranges of the same words, including gold spans inside tokens.

Tags can express only spans on token boundaries. To score the other gold spans too (``Sentence.unreachable``),
the words are cut at the ends of these spans. Then every gold span is a range of words, and so is every
predicted one, and they are equal if they have the same characters.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from gonie.text.schemes import TokenSpan
from gonie.text.types import Sentence


class Aligned(NamedTuple):
    """A sentence with its gold and predicted spans, both as ranges of its words.

    ``tokens`` has the index of the token that each word is a part of, if the words were cut. For a word after
    the end of the sentence it is the nearest token.
    """

    sentence: Sentence
    gold: Sequence[TokenSpan]
    predicted: Sequence[TokenSpan]
    tokens: Sequence[int] | None = None

    def gold_characters(self) -> list[tuple[int, int, str]]:
        """Return the gold spans as ranges of characters of the sentence's text."""
        starts, ends = self.sentence.edges()
        return [(starts[first], ends[last - 1], label) for first, last, label in self.gold]

    def unreachable(self) -> list[TokenSpan]:
        """Return the gold spans that tags cannot express and that were not found."""
        others = len(self.sentence.unreachable)
        found = set(self.predicted)
        return [span for span in self.gold[len(self.gold) - others :] if span not in found] if others else []

    def values_of_words(self, values: Sequence[float] | None) -> Sequence[float] | None:
        """Return the value of each word, from those of the tokens."""
        if values is None or self.tokens is None:
            return values
        return [values[token] for token in self.tokens] if values else [0.0] * len(self.sentence)

    def values_of_spans(
        self, values: Mapping[TokenSpan, float] | None, before: Sequence[TokenSpan]
    ) -> Mapping[TokenSpan, float] | None:
        """Return the value of each predicted span, from those of the spans ``before`` words were cut."""
        if values is None or self.tokens is None:
            return values
        return {new: values[old] for new, old in zip(self.predicted, before, strict=True) if old in values}


def align_spans(sentence: Sentence, gold: Sequence[TokenSpan], predicted: Sequence[TokenSpan]) -> Aligned:
    """Return the sentence with all its gold spans. Without unreachable ones, nothing changes."""
    if not sentence.unreachable:
        return Aligned(sentence, gold, predicted)
    text, (starts, ends) = sentence.surface, sentence.edges()
    edges = {*starts, *ends, *(edge for span in sentence.unreachable for edge in span[:2])}
    pieces = [piece for piece in pairwise(sorted(edges)) if _is_word(piece, sentence, starts, ends)]
    firsts, lasts = [first for first, _ in pieces], [last for _, last in pieces]

    def of_characters(start: int, end: int, label: str) -> TokenSpan:
        return bisect_left(firsts, start), bisect_right(lasts, end), label

    def of_tokens(span: TokenSpan) -> TokenSpan:
        return of_characters(starts[span[0]], ends[span[1] - 1], span[2])

    cut = replace(
        sentence,
        words=tuple(text[first:last] for first, last in pieces),
        tags=None,
        columns={},
        text=text,
        starts=tuple(firsts),
        ends=tuple(lasts),
    )
    return Aligned(
        cut,
        [*map(of_tokens, gold), *(of_characters(*span) for span in sentence.unreachable)],
        [*map(of_tokens, predicted)],
        [max(0, bisect_right(starts, first) - 1) for first in firsts],
    )


def _is_word(piece: tuple[int, int], sentence: Sentence, starts: Sequence[int], ends: Sequence[int]) -> bool:
    """Return whether a piece of the text is in a token or in an unreachable span, and not a gap between."""
    first, last = piece
    token = bisect_right(starts, first) - 1
    if token >= 0 and last <= ends[token]:
        return True
    around = [span for span in sentence.unreachable if span[0] <= first and last <= span[1]]
    blank = not sentence.surface[first:last].strip()
    return any(not blank or not sentence.surface[start:end].strip() for start, end, _ in around)
