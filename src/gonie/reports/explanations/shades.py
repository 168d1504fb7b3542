"""The shade of each word: weights scaled to -1..1, the same in HTML and on a terminal.

Signed weights are divided by the largest weight of the text. For attention over words and sentences the shade
is sqrt(p_sentence) * p_word (Yang et al. 2016), so the best words of an unimportant sentence are faint but
still visible.
"""

from __future__ import annotations

from math import isfinite, sqrt

from gonie.reports.explanation import TokenWeights


def shades(weights: TokenWeights) -> tuple[tuple[float, ...], ...]:
    """Return a shade in -1..1 for each token of each sentence. Non-finite weights are 0."""
    drawn = _attention(weights) if is_share(weights) else weights.words
    sizes = [abs(value) for row in drawn for value in row if isfinite(value)]
    most = max(sizes, default=0.0) or 1.0
    return tuple(tuple(value / most if isfinite(value) else 0.0 for value in row) for row in drawn)


def sentence_shades(weights: TokenWeights) -> tuple[float, ...]:
    """Return a shade for each sentence: its weight divided by the largest of the text."""
    most = max((abs(value) for value in weights.sentences if isfinite(value)), default=0.0) or 1.0
    return tuple(value / most if isfinite(value) else 0.0 for value in weights.sentences)


def is_share(weights: TokenWeights) -> bool:
    """Return whether the weights are shares of the text (at least 0) and not signed."""
    return weights.method == "attention"


def strongest(weights: TokenWeights, count: int) -> list[tuple[int, int]]:
    """Return the places (sentence, token) of the ``count`` largest weights by size, without zeros."""
    sized = [
        (abs(value), at, token)
        for at, row in enumerate(weights.words)
        for token, value in enumerate(row)
        if value and isfinite(value)
    ]
    return [(at, token) for _, at, token in sorted(sized, key=lambda found: (-found[0], *found[1:]))[:count]]


def _attention(weights: TokenWeights) -> list[tuple[float, ...]]:
    """Return the attention shades: ``words`` (p_sentence * p_word) divided by sqrt(p_sentence)."""
    return [
        tuple(value / sqrt(share) if share > 0 else 0.0 for value in row)
        for row, share in zip(weights.words, weights.sentences, strict=True)
    ]
