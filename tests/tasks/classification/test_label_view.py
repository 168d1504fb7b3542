"""Printing labels: control characters are replaced, and every label is shown."""

from __future__ import annotations

from gonie.tasks.classification.label_view import all_scores, pretty
from gonie.text.types import Classification


def found(text: str, scores: dict[str, float], labels: tuple[str, ...]) -> Classification:
    best = max(scores, key=lambda label: scores[label])
    return Classification(text=text, label=best, score=scores[best], scores=scores, labels=labels)


def test_a_text_is_one_line_without_control_characters() -> None:
    shown = pretty(found("\x1b[2J one\n two\ttabs", {"a\x07": 0.75, "b": 0.25}, ("a\x07",)))
    assert shown.plain == "a\ufffd 0.750  \ufffd[2J one two tabs"


def test_no_label_is_shown_as_a_dash() -> None:
    assert pretty(found("text", {"a": 0.2, "b": 0.1}, ())).plain == "–  text"


def test_labels_are_listed_by_decreasing_probability() -> None:
    scores = {"a": 0.1, "longer": 0.7, "b": 0.2}
    shown = all_scores(found("text", scores, ("longer",))).plain
    assert shown == "longer  0.700\nb       0.200\na       0.100"


def test_probabilities_are_aligned_for_any_labels() -> None:
    scores = {"two\nlines": 0.5, "긍정": 0.375, "a\tb": 0.125}
    shown = all_scores(found("text", scores, ("two\nlines",))).plain
    assert shown == "two lines  0.500\n긍정       0.375\na b        0.125"
    assert pretty(found("text", scores, ("two\nlines",))).plain == "two lines 0.500  text"
