"""Alternative answers: if these break, the wrong one is shown as the best, or differences are hidden."""

from __future__ import annotations

from gonie.reports.explanations.alternatives import differing, likeliest
from gonie.text.types import Candidate


def test_the_most_probable_label_comes_first() -> None:
    assert likeliest({"a": 0.25, "b": 0.75}) == [("b", 0.75), ("a", 0.25)]


def test_only_differing_tags_are_listed() -> None:
    best, other = Candidate(("B-PER", "O", "O"), 0.5), Candidate(("O", "O", "B-LOC"), 0.25)
    words = ("Anna", "in", "Oslo")
    assert differing(words, best, other) == [("Anna", "B-PER", "O"), ("Oslo", "O", "B-LOC")]
    assert differing(words, best, best) == []
