"""The answer to "why is this not tagged?": what the model prefers, and which words speak against the span."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from gonie.reports.explanation import AskedSpan, TokenWeights

MOST = 4
"""The number of words named on each side."""

Word = tuple[str, float]
"""A word and its weight."""


def asked_answer(text: str, label: str, probability: float, asked: AskedSpan) -> str:
    """Return the answer in a few sentences, for the text, the label and the probability of a span."""
    if asked.predicted:
        return f"\u2018{text}\u2019 is tagged {label}: probability {chance(probability)}."
    return (
        f"\u2018{text}\u2019 is not tagged {label}: probability {chance(probability)}. "
        f"The model prefers {tags_text(asked.tags)} ({chance(asked.probability)}). "
        f"Their log-odds differ by {asked.gap:.2f}."
    )


def chance(probability: float) -> str:
    """Format a probability with three digits, or in scientific notation if it is very small."""
    return f"{probability:.3f}" if probability >= 0.0005 or not probability else f"{probability:.1e}"


def tags_text(tags: Sequence[str]) -> str:
    """Return tags as text. Equal ones are named once."""
    return tags[0] if len(set(tags)) == 1 else " ".join(tags)


def opposing(words: Sequence[str], weights: TokenWeights) -> list[Word]:
    """Return the words that speak most against a span, the strongest first."""
    return sorted((word for word in _weighed(words, weights) if word[1] < 0), key=lambda word: word[1])[:MOST]


def supporting(words: Sequence[str], weights: TokenWeights) -> list[Word]:
    """Return the words that speak most for a span, the strongest first."""
    return sorted((word for word in _weighed(words, weights) if word[1] > 0), key=lambda word: -word[1])[
        :MOST
    ]


def _weighed(words: Sequence[str], weights: TokenWeights) -> list[Word]:
    """Return each word with its weight. Weights that are shown as zero are left out."""
    flat = (weight for row in weights.words for weight in row)
    return [
        (word, weight)
        for word, weight in zip(words, flat, strict=True)
        if isfinite(weight) and abs(weight) >= 0.005
    ]


def named_words(words: Sequence[str], weights: TokenWeights) -> list[str]:
    """Return a line with the words against a span, and one with those for it, by one method."""
    against, support = opposing(words, weights), supporting(words, weights)
    return [
        *([f"Against it, by {weights.method}: {word_list(against)}"] if against else []),
        *([f"For it, by {weights.method}: {word_list(support)}"] if support else []),
    ]


def word_list(found: Sequence[Word]) -> str:
    """Return words with their weights as text."""
    return ", ".join(f"{word} {weight:+.2f}" for word, weight in found)
