"""How dark each word is drawn: weights on the scale from -1 to 1, the same on the page and on a terminal.

Signed weights are divided by the largest of the text. Of attention over words and sentences a word is drawn
by sqrt(p_sentence) * p_word (Yang et al. 2016), so that the best words of a sentence that hardly counts are
faint, but can still be told from the others.
"""

from __future__ import annotations

from math import isfinite, sqrt

from gonie.reports.explanation import TokenWeights


def shades(weights: TokenWeights) -> tuple[tuple[float, ...], ...]:
    """A number for each token of each sentence, at most 1 in size; weights that are no number are 0."""
    drawn = _attention(weights) if is_share(weights) else weights.words
    sizes = [abs(value) for row in drawn for value in row if isfinite(value)]
    most = max(sizes, default=0.0) or 1.0
    return tuple(tuple(value / most if isfinite(value) else 0.0 for value in row) for row in drawn)


def sentence_shades(weights: TokenWeights) -> tuple[float, ...]:
    """A number for each sentence: its weight by the largest of the text."""
    most = max((abs(value) for value in weights.sentences if isfinite(value)), default=0.0) or 1.0
    return tuple(value / most if isfinite(value) else 0.0 for value in weights.sentences)


def is_share(weights: TokenWeights) -> bool:
    """Are the weights shares of the text, at least 0, and not for or against an answer?"""
    return weights.method == "attention"


def strongest(weights: TokenWeights, count: int) -> list[tuple[int, int]]:
    """The places (sentence, token) of the ``count`` greatest weights by size, greatest first, none of 0."""
    sized = [
        (abs(value), at, token)
        for at, row in enumerate(weights.words)
        for token, value in enumerate(row)
        if value and isfinite(value)
    ]
    return [(at, token) for _, at, token in sorted(sized, key=lambda found: (-found[0], *found[1:]))[:count]]


def _attention(weights: TokenWeights) -> list[tuple[float, ...]]:
    """``words`` are p_sentence * p_word; divided by sqrt(p_sentence) they are what is drawn."""
    return [
        tuple(value / sqrt(share) if share > 0 else 0.0 for value in row)
        for row, share in zip(weights.words, weights.sentences, strict=True)
    ]
