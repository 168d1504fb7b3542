"""What else an answer might have been, in the order in which a reader wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.explain.explanation import Candidate


def likeliest(chances: Mapping[str, float]) -> list[tuple[str, float]]:
    """Labels and their probabilities, the highest first."""
    return sorted(chances.items(), key=lambda item: -item[1])


def differing(words: Sequence[str], best: Candidate, other: Candidate) -> list[tuple[str, str, str]]:
    """The words that two taggings disagree on, and the tag that each gives them."""
    pairs = zip(words, best.tags, other.tags, strict=True)
    return [(word, one, two) for word, one, two in pairs if one != two]
