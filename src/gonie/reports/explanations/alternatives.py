"""An answer, whether gold agrees, and what else it might have been, as a reader wants to be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.reports.explanation import TextExplanation
from gonie.text.types import Candidate

NONE = "–"  # where a text gets none of several labels


def answer(each: TextExplanation) -> list[tuple[str, str]]:
    """The labels that a text gets, the likeliest first, and what stands behind each: its probability."""
    ranked = likeliest({label: each.probabilities[label] for label in each.given})
    return [(label, f" · {chance:.4f}") for label, chance in ranked] or [(NONE, "")]


def agreement(each: TextExplanation) -> str:
    """Whether gold has just the labels that the text gets; nothing where gold is not known."""
    if not each.gold:
        return ""
    return "✓ as gold" if set(each.given) == set(each.gold) else f"✗ gold is {', '.join(each.gold)}"


def likeliest(chances: Mapping[str, float]) -> list[tuple[str, float]]:
    """Labels and their probabilities, the highest first."""
    return sorted(chances.items(), key=lambda item: -item[1])


def differing(words: Sequence[str], best: Candidate, other: Candidate) -> list[tuple[str, str, str]]:
    """The words that two taggings disagree on, and the tag that each gives them."""
    pairs = zip(words, best.tags, other.tags, strict=True)
    return [(word, one, two) for word, one, two in pairs if one != two]
