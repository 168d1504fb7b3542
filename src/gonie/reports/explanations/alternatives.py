"""Predictions and their alternatives, formatted for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.messages import say
from gonie.reports.explanation import TextExplanation
from gonie.text.types import Candidate

NONE = "–"  # a multi-label text without labels


def answer(each: TextExplanation) -> list[tuple[str, str]]:
    """Return the predicted labels of a text, most probable first, each with its formatted probability.

    A predicted value has no probability.
    """
    if not each.probabilities:
        return [(say(value), "") for value in each.given]
    ranked = likeliest({label: each.probabilities[label] for label in each.given})
    return [(label, f" · {chance:.4f}") for label, chance in ranked] or [(NONE, "")]


def agreement(each: TextExplanation) -> str:
    """Return whether the prediction equals gold, as text. Empty if gold is unknown."""
    if not each.gold:
        return ""
    if not each.probabilities:  # a value is closer or further away, not right or wrong
        return f"gold is {', '.join(each.gold)}"
    return "✓ as gold" if set(each.given) == set(each.gold) else f"✗ gold is {', '.join(each.gold)}"


def likeliest(chances: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return labels and their probabilities, highest first."""
    return sorted(chances.items(), key=lambda item: -item[1])


def differing(words: Sequence[str], best: Candidate, other: Candidate) -> list[tuple[str, str, str]]:
    """Return the words on which two tag sequences differ, with the tag of each."""
    pairs = zip(words, best.tags, other.tags, strict=True)
    return [(word, one, two) for word, one, two in pairs if one != two]
